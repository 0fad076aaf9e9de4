"""Scenes: the typed schema, loading, overrides and presets, and the library of built-in scenes."""
