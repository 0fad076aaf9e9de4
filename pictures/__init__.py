"""The pictures of README and docs, and the reel: what they show, and the commands that make them."""
