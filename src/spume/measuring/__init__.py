"""Measurements of the state of a simulation, for the [[measure]] tables of scenes."""
