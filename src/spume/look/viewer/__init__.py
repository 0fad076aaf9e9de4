"""Runs in the browser: a served viewer, and pages that need no server."""
