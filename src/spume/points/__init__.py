"""The point-based method of [Gerszewski09]: no grid and no rest shape; forces act between neighbouring points."""
