"""The stages of the cascade, one module each: every one answers with its evidence, and with a Reason when it says no or could not run."""
