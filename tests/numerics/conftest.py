"""Tensors on which the kernels are tested: random ones, and every kind of degenerate one we know of."""

import numpy as np
import pytest
from numpy.typing import NDArray

COUNT = 4_000
EPS = np.finfo(float).eps


def rotations(rng: np.random.Generator, n: int, d: int) -> NDArray[np.float64]:
    """Random rotations, by QR of Gaussian matrices."""
    q, r = np.linalg.qr(rng.standard_normal((n, d, d)))
    q *= np.sign(np.einsum("nii->ni", r))[:, None, :]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    return q


def spectra(rng: np.random.Generator, n: int, d: int) -> dict[str, NDArray[np.float64]]:
    """Diagonals, shape (n, d), by the name of what is special about them."""
    free = rng.standard_normal((n, d))
    double = free.copy()
    double[:, 1] = double[:, 0]
    noise = 10.0 ** rng.uniform(-17, -2, (n, 1)) * rng.standard_normal((n, d))
    singular = free.copy()
    singular[:, -1] = 0.0
    rank_one = free * (np.arange(d) == 0)
    signs = np.sign(free)
    return {
        "random": free,
        "double": double,
        "nearly double": double + noise,
        "triple": np.repeat(free[:, :1], d, axis=1),
        "nearly triple": free[:, :1] + noise,
        "near identity": 1.0 + 1e-9 * free,
        "identity to rounding": 1.0 + EPS * free,
        "singular": singular,
        "nearly singular": singular + noise,
        "rank one": rank_one,
        "nearly rank one": rank_one + noise,
        "wide": 10.0 ** rng.uniform(-18, 0, (n, d)),
        "opposite": np.concatenate([free[:, :1], -free[:, :1], free[:, 2:]], axis=1),
        "reflected": np.abs(free) * np.where(np.arange(d) == d - 1, -1.0, 1.0),
        "signs": signs,
        "nearly signs": signs + noise,
        "zero": np.zeros((n, d)),
    }


def special(rng: np.random.Generator, d: int) -> dict[str, NDArray[np.float64]]:
    """Matrices whose entries, not their spectrum, are special: near identity as a step stores them, ties and zeros."""
    return {
        "I + 1e-9 noise": np.eye(d) + 1e-9 * rng.standard_normal((COUNT, d, d)),
        "gaussian": rng.standard_normal((COUNT, d, d)),
        "patterned": rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], (COUNT, d, d)),
    }


def symmetric_samples(d: int) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(d)
    found = special(rng, d)
    for name, l in spectra(rng, COUNT, d).items():
        v = rotations(rng, COUNT, d)
        found[name] = np.einsum("nij,nj,nkj->nik", v, l, v)
        found[name + ", diagonal"] = l[:, :, None] * np.eye(d)
    return {name: np.triu(s) + np.swapaxes(np.triu(s, 1), 1, 2) for name, s in found.items()}


def general_samples(d: int) -> dict[str, NDArray[np.float64]]:
    rng = np.random.default_rng(10 + d)
    found = special(rng, d)
    for name, l in spectra(rng, COUNT, d).items():
        u, v = rotations(rng, COUNT, d), rotations(rng, COUNT, d)
        found[name] = np.einsum("nij,nj,nkj->nik", u, l, v)
        found[name + ", symmetric"] = np.einsum("nij,nj,nkj->nik", u, l, u)
        found[name + ", diagonal"] = l[:, :, None] * np.eye(d)
    return found


@pytest.fixture(scope="session", params=[2, 3], ids=["2D", "3D"])
def dimension(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="session")
def symmetric(dimension: int) -> dict[str, NDArray[np.float64]]:
    """Symmetric matrices (n, d, d), by kind; about 150,000."""
    return symmetric_samples(dimension)


@pytest.fixture(scope="session")
def general(dimension: int) -> dict[str, NDArray[np.float64]]:
    """Square matrices (n, d, d), by kind; about 200,000."""
    return general_samples(dimension)


@pytest.fixture(scope="session")
def singular_values(general: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Singular values (n, d) of the square matrices by LAPACK, the smallest with the sign of the determinant.

    Asked for the values alone LAPACK takes another path, whose error reaches 50 eps where they nearly coincide.
    """
    found = {}
    for name, a in general.items():
        u, s, vt = np.linalg.svd(a)
        s[:, -1] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))
        found[name] = s
    return found
