"""What `validation` and `figures` share: cases, runs of scenes, results on disk, pages."""
