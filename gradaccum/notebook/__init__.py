"""What a notebook calls: explorables, predictions and pictures of fingerprints."""
