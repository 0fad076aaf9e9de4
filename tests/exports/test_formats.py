"""The table of formats is what the command, the function and the documentation know."""

import inspect
import tomllib
from pathlib import Path

import pytest

import spume
from spume.cli import main
from spume.errors import SceneError
from spume.exports.formats import FORMATS
from spume.extras import EXTRAS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_writer(name: str) -> None:
    assert inspect.getdoc(FORMATS[name].write())


@pytest.mark.parametrize("name", FORMATS)
def test_help_and_docstring_name_every_format(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--help"]) == 0
    assert name in " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f'"{name}"' in (spume.export.__doc__ or "")


def test_every_extra_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


def test_an_unknown_format_is_answered_with_the_known_ones(solid_run: Path) -> None:
    with pytest.raises(SceneError, match=f"no export format 'step': known are {', '.join(FORMATS)}"):
        spume.export(solid_run, "step")


@pytest.mark.parametrize(
    ("to", "options"),
    [
        ("ply", {"layout": "clips"}),
        ("gltf", {"fields": ["J"]}),
        ("csv", {"what": "surface"}),
        ("csv", {"cluster": "tcp://host:1"}),
        ("alembic", {"processes": 2}),
    ],
)
def test_an_option_without_effect_is_refused(solid_run: Path, to: str, options: dict) -> None:
    with pytest.raises(
        SceneError, match=f"--{next(iter(options))} .*: this has no effect on {to}; it is an option of "
    ):
        spume.export(solid_run, to, **options)


def test_a_file_of_another_format_is_refused(solid_run: Path, tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"run\.glb: the name of a file for alembic ends in \.abc"):
        spume.export(solid_run, "alembic", out=tmp_path / "run.glb")


def test_a_wrong_option_on_the_command_line_is_one_sentence(solid_run: Path, capsys) -> None:
    assert main(["export", str(solid_run), "--to", "obj", "--layout", "clips"]) == 2
    assert capsys.readouterr().err == "error: --layout clips: this has no effect on obj; it is an option of usd\n"


@pytest.mark.parametrize("to", ["gltf", "obj", "csv"])
def test_the_function_returns_the_files_and_writes_them_once(solid_run: Path, tmp_path: Path, to: str) -> None:
    out = tmp_path / ("run.glb" if to == "gltf" else to)
    options = {} if to == "csv" else {"what": "points"}
    files = spume.export(spume.open_run(solid_run), to, frames=slice(0, 2), out=out, **options)
    assert len(files) == (2 if to == "obj" else 1)
    stamps = [file.stat().st_mtime_ns for file in files]
    assert spume.export(str(solid_run), to, frames=slice(0, 2), out=out, **options) == files
    assert to == "csv" or [file.stat().st_mtime_ns for file in files] == stamps


def test_materials_of_similar_names_have_their_own_surfaces(named_alike_run: Path, tmp_path: Path) -> None:
    reports = spume.surface(named_alike_run, quality="preview", parts="material", out=tmp_path)
    assert [report.part for report in reports] == ["soft-gel", "soft-gel-2", "obstacle-block"]
    assert reports[0].points_volume == pytest.approx(reports[1].points_volume)


def test_surfaces_are_made_and_reported(solid_run: Path, tmp_path: Path) -> None:
    (report,) = spume.surface(solid_run, frames=1, quality="preview", out=tmp_path)
    assert isinstance(report, spume.SkinReport)
    assert report.frame == 1
    assert report.watertight
    assert (tmp_path / "all" / "frame_00001.safetensors").exists()
