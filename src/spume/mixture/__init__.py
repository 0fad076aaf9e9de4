"""Porous sand and water on shared nodes: what [Tampubolon17] adds to the material point method."""
