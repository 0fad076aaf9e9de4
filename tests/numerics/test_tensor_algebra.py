"""Products, determinants, inverses and deviators of tensors at a point, against NumPy."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spume.numerics import tensor2, tensor3

Array = NDArray[np.float64]

EPS = np.finfo(float).eps
# Sums of at most three products of at most three factors: six roundings, each of at most eps times the largest term.
TOLERANCE = 20 * EPS


@pytest.fixture
def tensor(dimension: int) -> ModuleType:
    return {2: tensor2, 3: tensor3}[dimension]


@pytest.fixture
def pairs(dimension: int) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(5)
    return [(a, b) for a, b in rng.standard_normal((200, 2, dimension, dimension))]


def full(a: Array) -> tuple[float, ...]:
    return tuple(a.ravel().tolist())


def packed(s: Array) -> tuple[float, ...]:
    """The upper triangle in the order (xx, yy, zz, xy, xz, yz)."""
    return (*np.diag(s).tolist(), *s[np.triu_indices(len(s), 1)].tolist())


def symmetric_part(a: Array) -> Array:
    return 0.5 * (a + a.T)


PRODUCTS: dict[str, Callable[[Array, Array], Array]] = {
    "multiply": lambda a, b: a @ b,
    "multiply_transpose": lambda a, b: a @ b.T,
    "transpose_multiply": lambda a, b: a.T @ b,
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_agree_with_numpy(tensor: ModuleType, pairs: list[tuple[Array, Array]], name: str) -> None:
    for a, b in pairs:
        bound = TOLERANCE * np.linalg.norm(a) * np.linalg.norm(b)
        np.testing.assert_allclose(getattr(tensor, name)(full(a), full(b)), full(PRODUCTS[name](a, b)), 0, bound)


UNARY: dict[str, Callable[[Array], Any]] = {
    "transpose": lambda a: full(a.T),
    "det": np.linalg.det,
    "gram": lambda a: packed(a @ a.T),
}
UNARY_SYMMETRIC: dict[str, Callable[[Array], Any]] = {
    "trace_sym": np.trace,
    "det_sym": np.linalg.det,
    "norm_sym": np.linalg.norm,
    "deviator_sym": lambda s: packed(s - np.trace(s) / len(s) * np.eye(len(s))),
}


@pytest.mark.parametrize("name", [*UNARY, *UNARY_SYMMETRIC])
def test_functions_of_one_tensor_agree_with_numpy(
    tensor: ModuleType, pairs: list[tuple[Array, Array]], name: str
) -> None:
    for a, _ in pairs:
        bound = TOLERANCE * max(1.0, np.linalg.norm(a)) ** 3
        if name in UNARY:
            np.testing.assert_allclose(getattr(tensor, name)(full(a)), UNARY[name](a), 0, bound)
        else:
            s = symmetric_part(a)
            np.testing.assert_allclose(getattr(tensor, name)(packed(s)), UNARY_SYMMETRIC[name](s), 0, bound)


def test_congruence_and_composition_agree_with_numpy(tensor: ModuleType, pairs: list[tuple[Array, Array]]) -> None:
    for a, b in pairs:
        s, l = symmetric_part(b), b[0]
        bound = TOLERANCE * np.linalg.norm(a) ** 2 * np.linalg.norm(b)
        np.testing.assert_allclose(tensor.congruence(full(a), packed(s)), packed(a @ s @ a.T), 0, bound)
        np.testing.assert_allclose(tensor.compose_sym(tuple(l), full(a)), packed(a @ np.diag(l) @ a.T), 0, bound)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_inverse_times_tensor_is_identity(
    tensor: ModuleType, pairs: list[tuple[Array, Array]], dimension: int, scale: float
) -> None:
    """By cofactors the error of the inverse relative to itself is eps |A|^d / det A, from the rounding of det A."""
    for a, _ in pairs:
        for name, m, pack in (("inverse", a, full), ("inverse_sym", symmetric_part(a), packed)):
            expected = np.linalg.inv(m)
            conditioning = np.linalg.norm(m) ** dimension / abs(np.linalg.det(m))
            bound = TOLERANCE * conditioning * np.linalg.norm(expected)
            found = np.array(getattr(tensor, name)(pack(m * scale))) * scale
            np.testing.assert_allclose(found, pack(expected), 0, bound)


def test_inverse_of_a_singular_tensor_is_not_finite(tensor: ModuleType, dimension: int) -> None:
    singular = np.ones((dimension, dimension))
    for a in (singular, np.zeros_like(singular)):
        assert not np.isfinite(tensor.inverse(full(a))).all()
        assert not np.isfinite(tensor.inverse_sym(packed(a))).all()


def test_deviator_near_identity_is_that_of_the_small_part(tensor: ModuleType, dimension: int) -> None:
    """dev(I + 2⁻³⁰ K) = 2⁻³⁰ dev K; for K of small integers the sum is exact, so the error is relative to dev K."""
    for k in np.random.default_rng(6).integers(-9, 10, (200, dimension, dimension)).astype(float):
        k = k + k.T
        found = np.array(tensor.deviator_sym(packed(np.eye(dimension) + 2.0**-30 * k))) * 2.0**30
        expected = packed(k - np.trace(k) / dimension * np.eye(dimension))
        np.testing.assert_allclose(found, expected, 0, 4 * EPS * np.linalg.norm(k))
