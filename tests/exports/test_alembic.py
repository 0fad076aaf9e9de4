"""Alembic files, read back by Alembic itself, hold the frames' own numbers."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("alembic3d", reason="needs the extra 'alembic' (alembic3d)")
from alembic3d import Abc, AbcGeom

from spume.errors import CacheError
from spume.exports.alembic import _write_elsewhere, write_alembic
from spume.exports.contents import contents
from spume.frames.reader import open_run

SINGLE = np.finfo(np.float32).eps


def vectors(array) -> np.ndarray:
    return np.array([[v[0], v[1], v[2]] for v in array])


def test_every_sample_of_points_is_the_frame(solid_run: Path, tmp_path: Path) -> None:
    run = open_run(solid_run)
    file = tmp_path / "points.abc"
    assert write_alembic(contents(run, [0, 1, 2], "points", None), file)
    archive = Abc.IArchive(str(file))
    schema = AbcGeom.IPoints(archive.getTop(), archive.getTop().getChildHeader(0).getName()).getSchema()
    assert schema.getNumSamples() == 3
    for number, frame in enumerate(run):
        assert schema.getTimeSampling().getSampleTime(number) == frame.time
        sample = schema.getValue(Abc.ISampleSelector(frame.time))
        np.testing.assert_allclose(vectors(sample.getPositions()), frame["x"], rtol=SINGLE)
        np.testing.assert_allclose(vectors(sample.getVelocities()), frame["v"], rtol=SINGLE)
        J = (
            AbcGeom.IFloatGeomParam(schema.getArbGeomParams(), "J")
            .getExpandedValue(Abc.ISampleSelector(frame.time))
            .getVals()
        )
        np.testing.assert_allclose(list(J), np.linalg.det(frame["F"]), rtol=2 * SINGLE)


@pytest.mark.slow_suite
def test_a_surface_keeps_its_triangles(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [1], "surface", None)
    file = tmp_path / "surface.abc"
    write_alembic(chosen, file)
    archive = Abc.IArchive(str(file))
    schema = AbcGeom.IPolyMesh(archive.getTop(), archive.getTop().getChildHeader(0).getName()).getSchema()
    sample = schema.getValue(Abc.ISampleSelector(0.0))
    skin = chosen.pieces(1)[0]
    np.testing.assert_array_equal(vectors(sample.getPositions()), skin.x)
    # Alembic winds faces clockwise.
    faces = np.array(list(sample.getFaceIndices())).reshape(-1, 3)[:, ::-1]
    np.testing.assert_array_equal(faces, skin.triangles)


@pytest.mark.slow_suite
def test_objects_of_the_same_name_are_all_there(named_alike_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "points.abc"
    write_alembic(contents(open_run(named_alike_run), [0], "points", None), file)
    archive = Abc.IArchive(str(file))
    top = archive.getTop()
    names = {top.getChildHeader(k).getName() for k in range(top.getNumChildren())}
    assert names == {"alike", "alike_2", "camera", "camera_2", "ground_2", "block", "a_b", "a_b_2"}


def test_a_failure_is_told_in_the_words_of_alembic(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", None)
    with pytest.raises(CacheError, match=r"points.abc' cannot be written: Alembic reports 'Could not open file: "):
        _write_elsewhere(chosen, tmp_path / "missing" / "unfinished.abc", tmp_path / "points.abc")


@pytest.mark.slow_suite
def test_a_second_export_writes_nothing(solid_run: Path, tmp_path: Path) -> None:
    chosen = contents(open_run(solid_run), [0], "points", None)
    assert write_alembic(chosen, tmp_path / "points.abc")
    assert not write_alembic(chosen, tmp_path / "points.abc")
