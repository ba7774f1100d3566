"""What unit 12 trains: a small text, a small GPT, and all of a training run but its loop. Needs torch only."""
