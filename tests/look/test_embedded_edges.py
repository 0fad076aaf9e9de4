"""Sharp edges of embedded surfaces in pictures."""

import numpy as np
import pytest

import spume
from spume.frames.reader import open_run
from spume.look.embedded_edges import sharp_mesh
from spume.look.triangle_mesh import vertex_normals

RADIUS, HEIGHT, CELL = 0.3, 0.1, 0.06
AXIS = np.array([0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def disc(tmp_path_factory):
    """A disc that appears after the first frame and then flies along."""
    folder = tmp_path_factory.mktemp("runs") / "disc"
    rubber = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e4, "poisson_ratio": 0.3}
    shape = {"cylinder": {"center": [0.0, 0.0, 0.0], "radius": RADIUS, "height": HEIGHT}}
    spume.run(
        {
            "title": "disc", "method": "mpm", "duration": 0.03, "frame_rate": 100, "gravity": [0.0, 0.0, 0.0],
            "grid": {"cell": CELL}, "material": {"rubber": rubber},
            "body": [{"name": "disc", "material": "rubber", "surface": "embedded", "shape": shape,
                      "velocity": [1.0, 0.0, 0.0], "start": 0.005}],
        },
        folder, progress="none",
    )  # fmt: skip
    return open_run(folder)


def test_the_normals_of_a_disc_are_those_of_its_faces_and_its_side(disc):
    """A triangle of the side spans at most two cubes of the mesh, whose diagonal is √3 spacings (half a cell each):
    its normal differs from that of the cylinder by at most the angle 2 √3 spacing/R, and no normal lies between
    those of a face and of the side."""
    for frame in list(disc)[1:]:
        mesh = sharp_mesh(disc, frame["surface of disc"])
        middle = mesh.vertices.mean(axis=0)
        out = (mesh.vertices - middle) * (1 - AXIS)
        out /= np.linalg.norm(out, axis=1)[:, None] + 1e-12
        of_face = np.abs(mesh.normals @ AXIS)
        of_side = np.einsum("ij,ij->i", mesh.normals, out)
        assert (np.maximum(of_face, of_side) > np.cos(2 * np.sqrt(3) * 0.5 * CELL / RADIUS)).all()
        assert (of_face > 0.9).any()
        assert (of_side > 0.9).any()
        x, triangles = frame["surface of disc"]["x"], frame["surface of disc"]["triangles"]
        assert np.array_equal(mesh.vertices[mesh.triangles], x[triangles])


def test_a_frame_with_fewer_triangles_is_split_at_the_same_edges(disc):
    whole = disc[1]["surface of disc"]

    class Torn(dict):
        declared = whole.declared

    kept = np.arange(len(whole["triangles"])) % 3 > 0
    torn = Torn(x=np.array(whole["x"]), triangles=np.array(whole["triangles"])[kept])
    found = sharp_mesh(disc, torn)
    assert np.array_equal(found.triangles, sharp_mesh(disc, whole).triangles[kept])


def test_a_mesh_with_other_triangles_or_vertices_is_split_as_it_is(disc):
    """As in a dry foam, whose bubbles come and go: triangles turned over, and one vertex less than at the start."""
    whole = disc[1]["surface of disc"]
    x, triangles = np.array(whole["x"]), np.array(whole["triangles"])

    class Other(dict):
        declared = whole.declared

    turned = sharp_mesh(disc, Other(x=x, triangles=triangles[:, ::-1].copy()))
    assert np.array_equal(turned.origin[turned.triangles], triangles[:, ::-1])
    kept = (triangles < len(x) - 1).all(axis=1)
    fewer = sharp_mesh(disc, Other(x=x[:-1], triangles=triangles[kept]))
    assert np.array_equal(fewer.origin[fewer.triangles], triangles[kept])
    assert fewer.origin.max() < len(x) - 1


def test_before_the_body_appears_there_is_nothing(disc):
    mesh = sharp_mesh(disc, disc[0]["surface of disc"])
    assert len(mesh.vertices) == len(mesh.triangles) == len(mesh.origin) == 0


def test_normals_averaged_over_a_rim_are_those_of_neither_side(disc):
    """What the split is for."""
    frame = disc[1]["surface of disc"]
    normals = vertex_normals(np.asarray(frame["x"]), np.asarray(frame["triangles"]))
    side = np.linalg.norm(normals * (1 - AXIS), axis=1)
    assert ((side > 0.3) & (side < 0.9)).any()
