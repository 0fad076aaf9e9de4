"""Frames on disk: reading, selection, and derived quantities. Shared by pictures and exports."""
