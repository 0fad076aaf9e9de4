"""Porous sand and water on shared nodes: the additions of [Tampubolon17] to the material point method."""
