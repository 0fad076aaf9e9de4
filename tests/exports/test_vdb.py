"""OpenVDB: what the volumes of a frame contain."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import synthetic_run

import spume
from spume.errors import SceneError
from spume.exports.vdb import MOST_VOXELS, Splat
from spume.look.blender.process import blender_command, has_blender
from spume.look.blender.studio import to_blender

NEEDS_BLENDER = pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
HOUSE = Path(__file__).parents[2]


def test_spreading_conserves_the_sum_and_its_first_moment() -> None:
    """Trilinear weights sum to one and reproduce linear functions: Σ w = 1, Σ w x_node = x."""
    rng = np.random.default_rng(3)
    x, values = rng.normal(size=(200, 3)), rng.uniform(size=200)
    splat = Splat(x, 0.13)
    spread = splat.spread(values)
    assert spread.sum() == pytest.approx(values.sum(), rel=1e-12)
    nodes = [0.13 * (splat.first[k] + np.arange(splat.shape[k])) for k in range(3)]
    for k in range(3):
        others = tuple(axis for axis in range(3) if axis != k)
        assert spread.sum(axis=others) @ nodes[k] == pytest.approx(values @ x[:, k], abs=1e-10)


def test_a_point_on_a_node_stays_there() -> None:
    splat = Splat(np.array([[0.2, -0.4, 0.6]]), 0.2)
    spread = splat.spread(np.ones(1))
    assert np.count_nonzero(spread > 1e-12) == 1
    np.testing.assert_allclose(0.2 * (splat.first + np.argwhere(spread > 0.5)[0]), [0.2, -0.4, 0.6])


def test_too_many_voxels_are_refused() -> None:
    with pytest.raises(SceneError, match=f"{MOST_VOXELS:,}"):
        Splat(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), 1e-3)


@NEEDS_BLENDER
def test_the_file_has_the_volume_momentum_and_skin_of_the_points(tmp_path: Path) -> None:
    run = synthetic_run.write_run(tmp_path / "run", frames=1)
    (folder,) = spume.export(run, "vdb", out=tmp_path / "volumes")
    (file,) = folder.glob("*.vdb")
    job = {"task": "volumes", "file": str(file), "source": str(HOUSE / "blender")}
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [*(blender_command() or ()), str(HOUSE / "tests" / "blender" / "inside.py"), str(tmp_path)]
    subprocess.run(command, capture_output=True, check=True)
    found = json.loads((tmp_path / "report.json").read_text())
    points = synthetic_run.frame_arrays(0)
    h = found["fog"]["spacing"]
    assert set(found) == {"fog", "velocity", "surface"}
    assert found["fog"]["class"] == "fog volume"
    assert found["fog"]["sum"] * h**3 == pytest.approx(points["volume"].sum(), rel=1e-5)
    x = points["x"] @ to_blender(np.array([0.0, 1.0, 0.0])).T
    assert (np.array(found["fog"]["lower"]) <= x.min(axis=0) + h).all()
    assert (np.array(found["fog"]["upper"]) >= x.max(axis=0) - h).all()
    assert found["surface"]["class"] == "level set"
    # two balls of radius 0.1 on voxels of a tenth of it
    assert found["surface"]["volume"] == pytest.approx(2 * 4 / 3 * np.pi * 0.1**3, rel=0.05)
    before = file.stat().st_mtime_ns
    spume.export(run, "vdb", out=tmp_path / "volumes")
    assert file.stat().st_mtime_ns == before
