"""From a slow script to a faster one that was measured: what `torchlint tune` does."""
