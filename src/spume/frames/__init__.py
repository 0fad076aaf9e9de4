"""Frames on disk: reading them, selecting from them, quantities derived from them. Shared by pictures and exports."""
