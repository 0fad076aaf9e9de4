"""What a user writes: the typed scene, its loading, overrides and presets, and the library of built-in scenes."""
