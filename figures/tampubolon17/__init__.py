"""Figures of [Tampubolon17]."""

from figures.tampubolon17 import fig8_hourglass

FIGURES = (fig8_hourglass.FIGURE,)
