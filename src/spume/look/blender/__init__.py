"""Blender in a separate process: path-traced pictures, .blend files, and tests of exports with its importers."""
