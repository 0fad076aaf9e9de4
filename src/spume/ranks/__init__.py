"""One scene on several processes ("ranks") that exchange messages: who owns what, and what they tell each other.

docs/inside/ranks.md describes the data model.
"""
