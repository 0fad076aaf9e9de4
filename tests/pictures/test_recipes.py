"""Recipes of the pictures in docs, and the reel."""

import re
from pathlib import Path

import numpy as np
import pytest
from pictures import making, reel
from pictures.making import FOLDER, ROOT, make
from pictures.recipe import Recipe, read_recipes
from pictures.reel import RATE, Shot, make_reel, read_shots
from PIL import Image

from spume import SceneError, load_scene
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.scene.extending import library_entries

OTHERS = re.compile(r"figure-.*|live|blender-.*|press-and-release|silicone-thread|cupcake-.*")
"""Pictures of docs/pictures that are no runs of one scene, or that another program shows."""
SLUMP = """
title = "A square falls"
method = "mpm"
dimension = 2
duration = 0.1
frame_rate = 30
[grid]
cell = 0.05
[[body]]
material = "soft rubber"
shape = { rectangle = { center = [0, 0.2], size = [0.2, 0.2] } }
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for module in (making, reel):
        monkeypatch.setattr(module, "RUNS", tmp_path / "runs")
    (tmp_path / "fall.toml").write_text(SLUMP, encoding="utf-8")
    return str(tmp_path / "fall.toml")


def nothing(_: str) -> None:
    pass


def test_recipes_name_scenes_and_presets_that_exist() -> None:
    presets = {entry["name"]: entry["presets"] for entry in library_entries()}
    shown = [(r.scene, r.preset, r.name) for r in read_recipes().values()]
    shown += [(s.scene, s.preset, s.caption) for s in read_shots() if s.scene]
    for name, preset, picture in shown:
        if name.endswith(".toml"):
            assert (ROOT / name).exists(), picture
        else:
            assert name in presets, picture
            assert not preset or preset in presets[name], picture


def test_the_scene_of_the_tutorial_loads_with_its_mesh() -> None:
    """It shows the vertices, both materials and both textures of the file."""
    scene = load_scene(ROOT / "examples" / "cupcake" / "cupcake.toml", preset="draft")
    mesh = read_mesh_file(str(ROOT / "examples" / "cupcake" / "cupcake.obj"))
    assert [obstacle.name for obstacle in scene.obstacle] == ["cupcake", "table", "piping tip"]
    assert len(mesh.vertices) == 1322
    assert [(each.name, each.texture is not None) for each in mesh.materials] == [("paper", True), ("cake", True)]
    assert not mesh.missing


def test_every_picture_of_the_docs_has_a_recipe() -> None:
    recipes = read_recipes()
    kept = {file.stem for file in FOLDER.iterdir()}
    assert {name for name in kept if not OTHERS.fullmatch(name)} <= set(recipes)
    assert {shot.still.removesuffix(".jpg") for shot in read_shots() if shot.still} <= set(recipes)


def test_an_unknown_key_is_told(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text('[a]\nscene = "slump"\ntimes = 1.0\n', encoding="utf-8")
    with pytest.raises(SceneError, match=r"'times'.*'time'"):
        read_recipes(tmp_path / "wrong.toml")


def test_a_still_and_a_sheet_are_made_from_one_run(scene: str, tmp_path: Path) -> None:
    """A second picture of the same run does not run it again, also with another backdrop."""
    still = make(Recipe(name="still", scene=scene, time=0.06, size=(320, 180)), nothing, tmp_path)
    before = (tmp_path / "runs" / "fall" / "manifest.json").stat().st_mtime_ns
    sheet = make(Recipe(name="sheet", scene=scene, size=(320, 180)), nothing, tmp_path)
    assert (tmp_path / "runs" / "fall" / "manifest.json").stat().st_mtime_ns == before
    Path(scene).write_text(SLUMP + '[backdrop]\ncolor = "#802020"\n', encoding="utf-8")
    red = make(Recipe(name="red", scene=scene, time=0.06, size=(320, 180)), nothing, tmp_path)
    assert (tmp_path / "runs" / "fall" / "manifest.json").stat().st_mtime_ns == before
    assert np.asarray(Image.open(red))[0, 0, 0] > 2 * np.asarray(Image.open(red))[0, 0, 1]
    assert Image.open(still).size == (320, 180)
    width, height = Image.open(sheet).size
    assert width > 3 * 300
    assert height > 270


def test_a_sheet_of_every_second_frame_draws_half_of_them(scene: str, tmp_path: Path) -> None:
    """The run has four frames."""
    make(Recipe(name="few", scene=scene, every=2, size=(320, 180)), nothing, tmp_path)
    drawn = sorted(file.name for file in (tmp_path / "runs" / "drawn" / "fall").glob("*.png"))
    assert drawn == ["frame_00000.png", "frame_00002.png"]


def test_a_sheet_of_chosen_moments_has_them_in_their_own_size(scene: str, tmp_path: Path) -> None:
    recipe = Recipe(name="chosen", scene=scene, moments=(0.0, 0.06, 0.1), size=(160, 90))
    assert Image.open(make(recipe, nothing, tmp_path)).size == (3 * 160 + 2 * 6, 90)
    drawn = sorted(file.name for file in (tmp_path / "runs" / "drawn" / "chosen").glob("*.png"))
    assert drawn == ["frame_00000.png", "frame_00002.png", "frame_00003.png"]


@pytest.mark.slow_suite
def test_the_reel_has_its_shots_one_after_another(scene: str, tmp_path: Path) -> None:
    """0.1 s at half the speed and a second of the last picture, then a still; a second call draws nothing again."""
    import imageio.v2 as imageio

    white = tmp_path / "white.png"
    Image.fromarray(np.full((90, 160, 3), 255, np.uint8)).save(white)
    shots = [
        Shot(caption="A square", scene=scene, preset="", speed=0.5, hold=1.0),
        Shot(caption="", still=str(white), hold=0.5),
    ]
    file = make_reel(tmp_path / "reel.mp4", nothing, shots)
    drawn = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs" / "drawn").rglob("*.png")}
    assert len(drawn) == 4
    with imageio.get_reader(file) as film:
        pictures = [np.asarray(picture) for picture in film]
    assert len(pictures) == round(0.2 * RATE) + RATE + round(0.5 * RATE)
    assert pictures[0].mean() < 40 < pictures[20].mean()
    assert pictures[-8].mean() > 240 > pictures[-1].mean()
    make_reel(tmp_path / "reel.mp4", nothing, shots)
    assert {path: path.stat().st_mtime_ns for path in drawn} == drawn
