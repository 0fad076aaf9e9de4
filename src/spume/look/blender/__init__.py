"""Blender in a process of its own: path-traced pictures, .blend files, and what its importers make of our exports."""
