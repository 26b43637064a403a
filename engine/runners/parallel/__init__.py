"""One model over several processes of this machine."""
