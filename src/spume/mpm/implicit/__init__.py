"""Implicit steps of the material point method: ADMM as in [Fang19], and Newton-Krylov as its reference."""
