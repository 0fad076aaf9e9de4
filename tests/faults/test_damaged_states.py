"""Checkpoints of every method with good checksums and values that no simulation writes: one sentence each, before the
first step. Most of these values would otherwise end in a traceback, an endless loop or a wrong result."""

import contextlib
import copy
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from spume.errors import CacheError
from spume.methods import method_class
from spume.runs.recovery import Checkpoint

sys.path.append(str(Path(__file__).parents[1] / "contracts"))
from test_methods import SCENES, scene_of

POINTS = ("mpm", "continuum-foam", "sand-water", "point-based")
"""Methods with material points"""


def with_one(array, value):
    """A copy with one value changed."""
    changed = array.copy()
    changed.reshape(-1)[changed.size // 2] = value
    return changed


DAMAGES = {
    "mass": [("zeros", np.zeros_like, "not positive"), ("one negative", lambda a: with_one(a, -1.0), "not positive")],
    "volume": [("zeros", np.zeros_like, "not positive"), ("infinite", lambda a: with_one(a, np.inf), "not finite")],
    "x": [("not numbers", lambda a: np.full_like(a, np.nan), "not finite")],
    "v": [("one not a number", lambda a: with_one(a, np.nan), "not finite")],
    "stress": [("one not a number", lambda a: with_one(a, np.nan), "not finite")],
    "material": [("unknown", lambda a: with_one(a, 77), "not between 0 and"),
                 ("negative", lambda a: with_one(a, -1), "not between 0 and")],
    "body": [("unknown", lambda a: with_one(a, 77), "not between 0 and")],
    "id": [("twice", np.zeros_like, "occur twice")],
}  # fmt: skip


@pytest.fixture(scope="module", params=SCENES)
def state(request):
    """Scene and initial state of each method."""
    scene = scene_of(request.param)
    arrays, values = method_class(request.param)(scene).checkpoint()
    return scene, {name: np.array(array) for name, array in arrays.items()}, json.loads(json.dumps(values))


def restored(scene, arrays, values):
    """The method that continues from a checkpoint."""
    method = method_class(scene.method)(scene)
    Checkpoint(Path("checkpoint.safetensors"), 0, copy.deepcopy(values), {}, arrays).restore(method, scene)
    return method


def test_the_state_itself_is_accepted(state):
    restored(*state)


@pytest.mark.parametrize(
    ("field", "damage", "said"), [pytest.param(f, *d[1:], id=f"{f} {d[0]}") for f, ds in DAMAGES.items() for d in ds]
)
def test_points_that_cannot_be_are_named(state, field, damage, said):
    scene, arrays, values = state
    if scene.method not in POINTS:
        pytest.skip("has no material points")
    for name in [name for name in arrays if name.endswith(f"/{field}")]:
        with pytest.raises(CacheError, match=f"field '{field}' of its points has .*{said}"):
            restored(scene, {**arrays, name: damage(arrays[name])}, values)


@pytest.mark.parametrize("value", [np.nan, -1.0, 0.0])
def test_deformations_that_cannot_be_are_named(state, value):
    """A deformation gradient with a negative determinant, a strain that is not positive definite."""
    scene, arrays, values = state
    tensors = [name for name, a in arrays.items() if a.ndim > 1 and a.size and (a[0].flat[0], a[0].flat[1]) == (1, 0)]
    tensors += [name for name in arrays if name.endswith(("/be", "/rest_metric", "/rest_shape"))]
    for name in tensors:
        if not name.endswith(("/F", "/b", "/be", "/rest_F", "/rest_metric", "/rest_shape")):
            continue
        with pytest.raises(CacheError, match=f"field '{name.partition('/')[2]}' of its points has "):
            restored(scene, {**arrays, name: np.full_like(arrays[name], value)}, values)


WRONG = {
    "steps": [None, -1, "many"], "speed": [None, -1.0, np.inf, np.nan], "last_dt": [None, -1.0, np.nan],
    "stretch": [None, 0.0, -1.0, np.inf], "allowed_dt": [-1.0, 0.0, "short", [1.0], np.nan],
    "released": [None, -1, 10**9, 0.5], "next_id": [None, [], "x", [None]], "held": [None, [[5, 0, 0]], [[0]], "x"],
    "energy_budget": [[], "x", {}],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [pytest.param(k, v, id=f"{k} {v!r}") for k, vs in WRONG.items() for v in vs])
def test_values_that_cannot_be_are_refused(state, key, value):
    scene, arrays, values = state
    if scene.method not in POINTS or key not in values:
        pytest.skip("has no such value")
    with pytest.raises(CacheError, match="does not fit the scene of its run"):
        restored(scene, arrays, {**values, key: value})


def test_a_value_that_is_missing_is_refused_or_may_be_missing(state):
    """Those of earlier versions may be; nothing else than a sentence comes of the others."""
    scene, arrays, values = state
    for key in values:
        with contextlib.suppress(CacheError):
            restored(scene, arrays, {name: value for name, value in values.items() if name != key})


def test_points_of_another_group_than_any_are_refused():
    scene = scene_of("point-based")
    arrays, values = method_class("point-based")(scene).checkpoint()
    with pytest.raises(CacheError, match="groups that do not exist"):
        restored(scene, {**arrays, "points/group": np.full_like(arrays["points/group"], -7)}, values)
