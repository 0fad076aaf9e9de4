"""The loop over frames: progress, writing frames, checkpoints, resuming, stopping."""
