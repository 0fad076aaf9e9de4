"""Eigenvalues, singular values and polar decompositions, against LAPACK and their own definitions.

A backward stable algorithm returns the exact answer for a tensor that differs by a small multiple of eps times the
norm; by Weyl's theorem its eigenvalues and singular values then are as close. TOLERANCE is that multiple: a few dozen
roundings lie between input and output.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spume.numerics import tensor2, tensor3
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.numerics.svd_lanes import LEFT, RIGHT, SVD_ROWS, VALUES, plane_svd_of_eight, svd_of_eight

Array = NDArray[np.float64]

TOLERANCE = 50 * np.finfo(float).eps
SCALES = (1.0, 1e-150, 1e150)


@compiled
def put(values: Any, row: Any) -> None:
    for k in range(len(values)):
        row[k] = values[k]


@compiled
def eigenvalues_2(s: Any, l: Any) -> None:
    for i in range(len(s)):
        put(tensor2.eigenvalues_sym((s[i, 0], s[i, 3], s[i, 1])), l[i])


@compiled
def eigenvalues_3(s: Any, l: Any) -> None:
    for i in range(len(s)):
        put(tensor3.eigenvalues_sym((s[i, 0], s[i, 4], s[i, 8], s[i, 1], s[i, 2], s[i, 5])), l[i])


@compiled
def eigen_2(s: Any, l: Any, v: Any) -> None:
    for i in range(len(s)):
        values, vectors = tensor2.eigen_sym((s[i, 0], s[i, 3], s[i, 1]))
        put(values, l[i])
        put(vectors, v[i])


@compiled
def eigen_3(s: Any, l: Any, v: Any) -> None:
    for i in range(len(s)):
        values, vectors = tensor3.eigen_sym((s[i, 0], s[i, 4], s[i, 8], s[i, 1], s[i, 2], s[i, 5]))
        put(values, l[i])
        put(vectors, v[i])


@compiled
def row_2(a: Any) -> Any:
    return (a[0], a[1], a[2], a[3])


@compiled
def row_3(a: Any) -> Any:
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@compiled
def svd_2(a: Any, u: Any, s: Any, v: Any) -> None:
    for i in range(len(a)):
        left, values, right = tensor2.svd(row_2(a[i]))
        put(left, u[i])
        put(values, s[i])
        put(right, v[i])


@compiled
def svd_3(a: Any, u: Any, s: Any, v: Any) -> None:
    for i in range(len(a)):
        left, values, right = tensor3.svd(row_3(a[i]))
        put(left, u[i])
        put(values, s[i])
        put(right, v[i])


@compiled
def svd_of_eight_2(a: Any, u: Any, s: Any, v: Any) -> None:
    """The tensors are embedded with zero in the third row and column."""
    memory = np.zeros((SVD_ROWS, LANES))
    for first in range(0, len(a), LANES):
        count = min(LANES, len(a) - first)
        for i in range(4):
            memory[i + i // 2, :count] = a[first : first + count, i]
        plane_svd_of_eight(memory)
        for i in range(4):
            u[first : first + count, i] = memory[LEFT + i + i // 2, :count]
            v[first : first + count, i] = memory[RIGHT + i + i // 2, :count]
        for i in range(2):
            s[first : first + count, i] = memory[VALUES + i, :count]


@compiled
def svd_of_eight_3(a: Any, u: Any, s: Any, v: Any) -> None:
    memory = np.zeros((SVD_ROWS, LANES))
    for first in range(0, len(a), LANES):
        count = min(LANES, len(a) - first)
        for i in range(9):
            memory[i, :count] = a[first : first + count, i]
        svd_of_eight(memory)
        for i in range(9):
            u[first : first + count, i] = memory[LEFT + i, :count]
            v[first : first + count, i] = memory[RIGHT + i, :count]
        for i in range(3):
            s[first : first + count, i] = memory[VALUES + i, :count]


@compiled
def polar_2(a: Any, r: Any, s: Any) -> None:
    for i in range(len(a)):
        rotation, (xx, yy, xy) = tensor2.polar(row_2(a[i]))
        put(rotation, r[i])
        put((xx, xy, xy, yy), s[i])


@compiled
def polar_3(a: Any, r: Any, s: Any) -> None:
    for i in range(len(a)):
        rotation, (xx, yy, zz, xy, xz, yz) = tensor3.polar(row_3(a[i]))
        put(rotation, r[i])
        put((xx, xy, xz, xy, yy, yz, xz, yz, zz), s[i])


KERNELS: dict[tuple[str, int], Callable[..., None]] = {
    ("eigenvalues", 2): eigenvalues_2,
    ("eigenvalues", 3): eigenvalues_3,
    ("eigen", 2): eigen_2,
    ("eigen", 3): eigen_3,
    ("svd", 2): svd_2,
    ("svd", 3): svd_3,
    ("svd of eight", 2): svd_of_eight_2,
    ("svd of eight", 3): svd_of_eight_3,
    ("polar", 2): polar_2,
    ("polar", 3): polar_3,
}


def run(name: str, a: Array, shapes: str) -> list[Array]:
    """Outputs of a kernel over matrices (n, d, d): "v" is a vector (n, d), "m" a matrix (n, d, d)."""
    n, d, _ = a.shape
    outputs = [np.empty((n, d if shape == "v" else d * d)) for shape in shapes]
    KERNELS[name, d](a.reshape(n, d * d), *outputs)
    return [o if shape == "v" else o.reshape(n, d, d) for o, shape in zip(outputs, shapes)]


def norms(a: Array) -> Array:
    """Frobenius norms, 1 for the zero matrix so that errors may be divided by them."""
    n = np.sqrt((a**2).sum(axis=(1, 2)))
    return np.where(n == 0.0, 1.0, n)


def worst(error: Array) -> float:
    """Largest error; infinite if any is not a number, so that a comparison with it fails."""
    return float(np.max(np.where(np.isnan(error), np.inf, np.abs(error))))


def assert_rotations(q: Array, name: str) -> None:
    assert worst(q @ q.swapaxes(1, 2) - np.eye(q.shape[1])) < TOLERANCE, name
    assert worst(np.linalg.det(q) - 1.0) < TOLERANCE, name


@pytest.mark.parametrize("scale", SCALES)
def test_eigenvalues_agree_with_lapack_in_descending_order(symmetric: dict[str, Array], scale: float) -> None:
    for name, s in symmetric.items():
        expected = np.linalg.eigvalsh(s)[:, ::-1]
        for l in (*run("eigenvalues", s * scale, "v"), run("eigen", s * scale, "vm")[0]):
            assert worst((l / scale - expected) / norms(s)[:, None]) < TOLERANCE, name
            assert np.all(np.diff(l) <= 0.0), name


@pytest.mark.parametrize("scale", SCALES)
def test_eigenvectors_are_a_rotation_and_rebuild_the_tensor(symmetric: dict[str, Array], scale: float) -> None:
    for name, s in symmetric.items():
        l, v = run("eigen", s * scale, "vm")
        assert_rotations(v, name)
        rebuilt = np.einsum("nij,nj,nkj->nik", v, l / scale, v)
        assert worst((rebuilt - s) / norms(s)[:, None, None]) < TOLERANCE, name


def test_eigenvectors_near_identity_are_those_of_the_small_part(dimension: int) -> None:
    """I + 2⁻³⁰ K has the eigenvectors of K; for K of small integers the sum is exact, so nothing excuses an error."""
    k = np.random.default_rng(3).integers(-9, 10, (20_000, dimension, dimension)).astype(float)
    k += k.swapaxes(1, 2)
    _, v = run("eigen", np.eye(dimension) + 2.0**-30 * k, "vm")
    turned = np.einsum("nji,njk,nkl->nil", v, k, v)
    coupling = turned * (1.0 - np.eye(dimension))
    assert worst(coupling / norms(k)[:, None, None]) < TOLERANCE


@pytest.mark.parametrize("kernel", ["svd", "svd of eight"])
@pytest.mark.parametrize("scale", SCALES)
def test_singular_values_agree_with_lapack_in_order_and_sign(
    general: dict[str, Array], singular_values: dict[str, Array], scale: float, kernel: str
) -> None:
    for name, a in general.items():
        s = run(kernel, a * scale, "mvm")[1]
        # The sign of a singular value within rounding of zero is open; the difference then is within the tolerance.
        assert worst((s / scale - singular_values[name]) / norms(a)[:, None]) < TOLERANCE, name
        assert np.all(np.diff(np.abs(s)) <= 0.0), name
        assert np.all(s[:, :-1] >= 0.0), name


@pytest.mark.parametrize("kernel", ["svd", "svd of eight"])
@pytest.mark.parametrize("scale", SCALES)
def test_singular_vectors_are_rotations_and_rebuild_the_tensor(
    general: dict[str, Array], scale: float, kernel: str
) -> None:
    for name, a in general.items():
        u, s, v = run(kernel, a * scale, "mvm")
        assert_rotations(u, name)
        assert_rotations(v, name)
        rebuilt = np.einsum("nij,nj,nkj->nik", u, s / scale, v)
        assert worst((rebuilt - a) / norms(a)[:, None, None]) < TOLERANCE, name


def test_each_of_eight_tensors_is_decomposed_as_if_it_were_alone(general: dict[str, Array]) -> None:
    """Bit for bit, beside zero tensors, multiples of the identity, NaN, infinity and extreme scales."""
    rng = np.random.default_rng(6)
    one = np.eye(next(iter(general.values())).shape[1])
    odd = np.array(
        [0.0 * one, one, -3.0 * one, np.full_like(one, np.nan), np.full_like(one, np.inf), 1e-150 * one, 1e150 * one]
    )
    a = np.concatenate([*(kind[:20] for kind in general.values()), np.repeat(odd, 30, axis=0)])
    a = rng.permutation(a * 10.0 ** rng.choice([-150.0, -60.0, 0.0, 0.0, 60.0, 150.0], (len(a), 1, 1)))
    together = run("svd of eight", a, "mvm")
    for lane in range(LANES):
        alone = np.tile(one, (LANES * len(a), 1, 1))
        alone[lane::LANES] = a
        for found, expected in zip(run("svd of eight", alone, "mvm"), together):
            np.testing.assert_array_equal(found[lane::LANES], expected)


@pytest.mark.parametrize("scale", SCALES)
def test_polar_factors_are_the_nearest_rotation_and_its_stretch(
    general: dict[str, Array], singular_values: dict[str, Array], scale: float
) -> None:
    """R is a rotation, A = R S, and S has the signed singular values for eigenvalues: that makes R the nearest one."""
    for name, a in general.items():
        r, s = run("polar", a * scale, "mm")
        assert_rotations(r, name)
        assert worst((r @ (s / scale) - a) / norms(a)[:, None, None]) < TOLERANCE, name
        expected = np.sort(singular_values[name])
        assert worst((np.linalg.eigvalsh(s / scale) - expected) / norms(a)[:, None]) < TOLERANCE, name


def test_polar_is_accurate_on_both_sides_of_its_change_of_method(dimension: int) -> None:
    """Stretches from 0.5 to 2 of random rotations pass from Newton's iteration to the singular values and back."""
    rng = np.random.default_rng(4)
    q = np.linalg.qr(rng.standard_normal((20_000, dimension, dimension)))[0]
    w = np.linalg.qr(rng.standard_normal((20_000, dimension, dimension)))[0]
    q[:, :, 0] *= np.linalg.det(q)[:, None]
    stretch = np.einsum("nij,nj,nkj->nik", w, rng.uniform(0.5, 2.0, (20_000, dimension)), w)
    r, s = run("polar", q @ stretch, "mm")
    # Rounding of the input moves R by at most eps |A| / (s1 + s2) [Higham08], here less than 4 eps.
    assert worst(r - q) < TOLERANCE
    assert worst(s - stretch) < TOLERANCE


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("eigenvalues", "v"), ("eigen", "vm"), ("svd", "mvm"), ("svd of eight", "mvm"), ("polar", "mm")],
)
def test_not_a_number_is_never_hidden(dimension: int, name: str, shapes: str) -> None:
    """Whichever entry is NaN, the values (eigenvalues, singular values, stretch) show it."""
    for k in range(dimension**2):
        a = np.eye(dimension).reshape(1, -1) + 0.1
        a[0, k] = np.nan
        a = a.reshape(1, dimension, dimension)
        if name.startswith("eigen"):
            a = 0.5 * (a + a.swapaxes(1, 2))
        values = run(name, a, shapes)[0 if name.startswith("eigen") else 1]
        assert np.isnan(values).any(), k
