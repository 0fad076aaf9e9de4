"""Pieces of torn material, each with a velocity field of its own on the nodes where it meets others.

Material in self-contact shares one velocity field in the material point method, and therefore stops a kernel's width
apart: a crumb two cells above a landed dollop takes the velocity of the nodes between them, which the dollop dominates,
and hovers. Here each piece is labelled when it has come apart (`connection.py`), pieces near each other are summed on
fields of their own (`layers.py`), and these get a common velocity at the nodes around touching points (`bonds.py`).

Where pieces share no node, or there is one only, nothing changes, not even the last bit.
"""

from spume.foam.pieces.bonds import bond_layers, rehearse_bonds
from spume.foam.pieces.connection import PIECE, find_pieces, rehearse_pieces
from spume.foam.pieces.layers import Storage, divide

__all__ = ["PIECE", "Storage", "bond_layers", "divide", "find_pieces", "rehearse_bonds", "rehearse_pieces"]
