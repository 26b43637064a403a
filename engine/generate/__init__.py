"""Made-up workloads: when requests arrive, and how long their prompts and outputs are."""
