"""What torchlint believes about code, and why: what runs on each step, and why a rule spoke."""
