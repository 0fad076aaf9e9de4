"""The loop over frames: progress, frames on disk, checkpoints, resuming, stopping; the contract of a method."""
