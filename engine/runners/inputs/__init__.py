"""From a plan to tensors on the device, and from the device back to tokens."""
