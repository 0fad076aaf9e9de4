"""The viewer: a page in the browser, served by viser, that shows runs on disk and follows those in progress."""

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SpumeError
from spume.extras import require
from spume.frames.poses import ObstaclePoses
from spume.frames.quantities import label
from spume.frames.reader import BodySkin
from spume.look.finish import Finish, background, ground_finish
from spume.look.ground import ground_axes
from spume.look.obstacles import ground_obstacle
from spume.look.pictures.lettering import MAP, Legend, lying_color_bar
from spume.look.textures import painted
from spume.look.triangle_mesh import TriangleMesh
from spume.look.viewer.mesh_file import mesh_file
from spume.look.viewer.own_address import own_address_only
from spume.look.viewer.shadow import ground_shadow
from spume.look.viewer.watched_run import MATERIAL, Shown, WatchedRun, watch
from spume.scene.common import Scene
from spume.scene.overrides import Changes
from spume.srgb import to_linear, to_srgb

POLL = 1.0
"""Interval of checks for new frames [s]."""
SPEEDS = {"¼×": 0.25, "½×": 0.5, "1×": 1.0, "2×": 2.0, "4×": 4.0}
"""Playback speeds, relative to simulated time."""
MATT = Finish((1.0, 1.0, 1.0), roughness=1.0)
"""How a surface coloured by a quantity looks."""
PLAY, PAUSE, BACK, ON = "Play", "Pause", "◀", "▶"


class Viewer:
    """A page for several runs, one of them shown."""

    def __init__(
        self, folders: list[Path], host: str = "127.0.0.1", port: int = 8080, skin: BodySkin = "embedded",
        looks: Changes = (),
    ) -> None:  # fmt: skip
        self.viser: Any = require("viser", "the viewer")
        self.skin, self.looks = skin, looks
        self.runs = {str(folder): watch(folder, skin, looks) for folder in folders}
        try:
            with own_address_only(host):
                self.server = self.viser.ViserServer(host=host, port=port, label="spume", verbose=False)
        except OSError as error:
            raise SpumeError(
                f"the viewer cannot listen on {host}:{port} ({error.strerror}): give another --port"
            ) from None
        self.address = f"http://{host}:{self.server.get_port()}"
        self.dirty = True
        self.snapshot: Path | None = None
        """State to show instead of the newest frame while frames are followed."""
        self._polled = self._stepped = time.monotonic()
        self._build()
        self._enter_run()

    @property
    def watched(self) -> WatchedRun:
        """The run that is shown."""
        return self.runs[self.run_choice.value]

    def _build(self) -> None:
        """The controls. Each one only marks the page as out of date: `step` draws it, in one thread."""
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()  # beside the scene, not over it
        names = list(self.runs)
        self.run_choice = gui.add_dropdown("Run", names, initial_value=names[0])
        self.title = gui.add_markdown("")
        self.legend = gui.add_markdown("")
        self.frame = gui.add_slider("Frame", 0, 1, 1, 0)
        self.playing = False
        self.buttons = gui.add_button_group("Film", [BACK, PLAY, PAUSE, ON])
        self.buttons.on_click(lambda _: self._press(self.buttons.value))
        self.speed = gui.add_dropdown("Speed", list(SPEEDS), initial_value="1×")
        self.follow = gui.add_checkbox("Follow new frames", False)
        self.show = gui.add_dropdown("Show", ["points", "surface"])
        self.color = gui.add_dropdown("Colour", ["material"])
        self.color_bar = gui.add_image(np.full((8, 8, 3), 255, np.uint8), visible=False)
        self.size = gui.add_slider("Point size", 0.1, 2.0, 0.05, 0.8)
        self.obstacles = gui.add_checkbox("Obstacles", True)
        self.plot_choice = gui.add_dropdown("Plot", ["points"])
        self.plot: Any = None
        for control in (self.frame, self.show, self.color, self.size, self.obstacles):
            control.on_update(lambda _: self._mark())
        self.run_choice.on_update(lambda _: self._enter_run())
        self.plot_choice.on_update(lambda _: self._draw_plot())

    def _mark(self) -> None:
        self.dirty = True

    def _press(self, button: str) -> None:
        """Play, pause, or step one frame back or forward."""
        self.playing = button == PLAY
        if button in (BACK, ON):
            last = len(self.watched.run) - 1
            self.frame.value = min(max(self.frame.value + (1 if button == ON else -1), 0), last)

    def _enter_run(self) -> None:
        """Set up the controls for the chosen run."""
        watched = self.watched
        run = watched.run
        self.title.content = f"**{plain_text(run.title)}**"
        self.frame.max = max(1, len(run) - 1)
        self.frame.value = min(self.frame.value, len(run) - 1)
        self.show.options = ["surface", "points"] if watched.spatial else ["points"]
        self.show.value = self.show.options[0]
        self.color.options = watched.names
        self.follow.value = not run.complete
        self.plot_choice.options = [name for name in watched.series() if name != "time"]
        self.plot_choice.value = self.plot_choice.options[0]
        self.server.scene.reset()
        self.server.scene.set_background_image(backdrop(run.scene), format="png")
        self.server.scene.set_up_direction(tuple(watched.up))
        self._aim(watched)
        self._add_obstacles(watched)
        self._draw_plot()
        self.dirty = True

    def _aim(self, watched: WatchedRun) -> None:
        """The scene's camera, or one that shows the whole run and the obstacles that are no farther away than the run
        is wide."""
        from spume.look.pictures.camera import automatic_angle, automatic_view, scene_view

        lower, upper = watched.lower, watched.upper
        room = watched.size
        if watched.ground is not None and not watched.run.complete:  # what falls will get there
            fallen = lower + (watched.ground - lower @ watched.up) * watched.up
            lower, upper = np.minimum(lower, fallen), np.maximum(upper, fallen)
        poses = watched.poses(watched.run[0])
        for solid in watched.solids:
            corners = np.clip(solid.corners(poses), watched.lower - room, watched.upper + room)
            lower, upper = np.minimum(lower, corners.min(axis=0)), np.maximum(upper, corners.max(axis=0))
        scene = watched.run.scene
        view = scene_view(scene) or automatic_view(lower, upper, watched.up, 1.2, automatic_angle(scene))
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = tuple(view.position), tuple(view.target), tuple(view.up)
        camera.fov = float(np.radians(view.angle))

    def _turn_cameras(self) -> None:
        """Set the camera of all connected browsers to the view with which new ones start."""
        wanted = self.server.initial_camera
        for client in self.server.get_clients().values():
            client.camera.position, client.camera.look_at = wanted.position, wanted.look_at

    def _add_obstacles(self, watched: WatchedRun) -> None:
        self.solid_handles = []
        scene = self.server.scene
        for k, (mesh, solid) in enumerate(zip(watched.meshes, watched.solids)):
            self.solid_handles.append(scene.add_glb(f"/obstacles/{k}", painted_glb(mesh, solid.name, solid.finish)))
        if watched.ground is not None:
            middle = 0.5 * (watched.lower + watched.upper)
            middle = middle + (watched.ground - middle @ watched.up) * watched.up
            wide = 3 * watched.size
            mesh = disc(middle, watched.up, wide)
            ground = ground_finish(watched.run.scene, ground_obstacle(watched.run.scene, watched.up))
            scene.add_glb("/ground", painted_glb(mesh, "ground", ground))

    def refresh(self) -> None:
        """Look for new frames now."""
        self._polled = time.monotonic()
        watched = self.watched
        if watched.refresh():
            if watched.is_empty:
                self.reload()
                watched = self.watched
                self._turn_cameras()
            self.frame.max = max(1, len(watched.run) - 1)
            self._draw_plot()
            if self.follow.value:
                self.frame.value = len(watched.run) - 1
                self.dirty = True

    def reload(self) -> None:
        """Open the shown run again, whose frames have been replaced; the camera stays."""
        name = self.run_choice.value
        self.runs[name] = watch(Path(name), self.skin, self.looks)
        self.snapshot = None
        self.frame.value = 0
        kept = [(control, control.value) for control in (self.show, self.color, self.plot_choice)]
        self._enter_run()
        for control, value in kept:
            if value in control.options:
                control.value = value

    def show_snapshot(self, file: Path | None) -> None:
        """Show the state in a file instead of the newest frame; None: frames again."""
        self.snapshot = file
        self.dirty = True

    def step(self) -> None:
        """Look for new frames, play on, draw what is out of date."""
        now = time.monotonic()
        watched = self.watched
        if now - self._polled > POLL:
            self.refresh()
        if self.playing and now - self._stepped > 1 / (SPEEDS[self.speed.value] * watched.run.scene.frame_rate):
            self._stepped = now
            self.frame.value = (self.frame.value + 1) % len(watched.run)
        if self.dirty:
            self.dirty = False
            self._draw()

    def _draw(self) -> None:
        watched, name = self.watched, self.color.value
        number = min(int(self.frame.value), len(watched.run) - 1)
        snapshot = self.snapshot if self.follow.value else None
        frame = watched.run[number] if snapshot is None else watched.snapshot(snapshot)
        populations = watched.shown(frame, self.show.value, list(dict.fromkeys([name, MATERIAL])))
        poses = watched.poses(frame)
        with self.server.atomic():
            for population, shown in populations.items():
                self._draw_population(population, shown, watched.color(shown, name))
            for k, (solid, mesh) in enumerate(zip(watched.solids, watched.meshes)):
                R, p = solid.place(poses)
                if solid.deforms(poses):
                    glb = painted_glb(solid.shaped(mesh, poses), solid.name, solid.finish)
                    self.solid_handles[k] = self.server.scene.add_glb(f"/obstacles/{k}", glb)
                handle = self.solid_handles[k]
                handle.wxyz, handle.position = quaternion(R), tuple(p)
                handle.visible = self.obstacles.value
            self._draw_shadow(watched, populations, poses)
        place = f"frame {number} of {len(watched.run) - 1}" if snapshot is None else "between frames"
        self.legend.content = f"t = {frame.time:.3f} s, {place}"
        self.color_bar.visible = name != MATERIAL
        if name != MATERIAL:
            self.color_bar.image = lying_color_bar(
                Legend(MAP, watched.range(name), label(watched.run.populations, name)), (420, 74)
            )

    def _draw_population(self, name: str, shown: Shown, colors: NDArray[np.uint8]) -> None:
        scene = self.server.scene
        if len(shown.triangles):
            self._drop(f"/points/{name}")
            finishes = self.watched.finishes if self.color.value == MATERIAL else [MATT]
            parts = shown.parts(finishes)
            tints = to_linear(colors / 255.0)
            scene.add_glb(f"/surface/{name}", mesh_file(shown.vertices, shown.normals, tints, parts))
            return
        self._drop(f"/surface/{name}")
        size = shown.spacing * self.size.value
        scene.add_point_cloud(
            f"/points/{name}", shown.vertices, colors, point_size=size, point_shape="circle", precision="float32"
        )

    def _draw_shadow(self, watched: WatchedRun, populations: dict[str, Shown], poses: ObstaclePoses) -> None:
        if watched.ground is None or not watched.spatial:
            return
        clouds: list[NDArray[Any]] = [shown.vertices for shown in populations.values()]
        if self.obstacles.value:
            for mesh, solid in zip(watched.meshes, watched.solids):
                R, p = solid.place(poses)
                clouds.append(solid.shaped(mesh, poses).vertices @ R.T + p)
        spacing = max(shown.spacing for shown in populations.values())
        shadow = ground_shadow(clouds, watched.up, watched.ground, spacing, 2 * watched.size)
        if shadow is None:
            self._drop("/shadow")
            return
        self.server.scene.add_image(
            "/shadow", shadow.image, shadow.width, shadow.height, format="png", cast_shadow=False,
            receive_shadow=False, wxyz=quaternion(shadow.R), position=tuple(shadow.middle),
        )  # fmt: skip

    def _drop(self, name: str) -> None:
        self.server.scene.remove_by_name(name)

    def _draw_plot(self) -> None:
        series = self.watched.series()
        name = self.plot_choice.value
        if name not in series:
            return
        data = (series["time"], series[name])
        if self.plot is not None:
            self.plot.remove()
        uplot = self.viser.uplot
        lines = (uplot.Series(label="time [s]"), uplot.Series(label=name.replace("_", " "), stroke="#3a6ea5", width=2))
        scales = {"x": uplot.Scale(time=False)}
        self.plot = self.server.gui.add_uplot(data, lines, scales=scales, aspect=1.6)

    def run_forever(self) -> None:
        """Serve until interrupted."""
        try:
            while True:
                self.step()
                time.sleep(0.01)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        self.server.stop()


def painted_glb(mesh: TriangleMesh, name: str, finish: Finish) -> bytes:
    """A mesh in the colours of its finish or of what covers it, as binary glTF."""
    found = painted(mesh, name, finish)
    colors = [
        np.tile(each.color, (len(part.vertices), 1)) if part.colors is None else part.colors for part, each in found
    ]
    first = np.cumsum([0, *(len(part.vertices) for part, _ in found)])
    vertices, normals = (np.concatenate([each[k] for each, _ in found]) for k in (0, 2))
    parts = [(part.triangles + start, each) for (part, each), start in zip(found, first)]
    return mesh_file(vertices, normals, np.concatenate(colors), parts)


def backdrop(scene: Scene) -> NDArray[np.uint8]:
    """The backdrop of pictures, a little brighter above."""
    up = np.linspace(1.0, 0.0, 256)[:, None]
    rows = np.array(background(scene)) * (0.8 + 0.5 * up)
    return np.tile(to_srgb(np.clip(rows, 0.0, 1.0))[:, None], (1, 16, 1))


def disc(middle: NDArray[np.float64], up: NDArray[np.float64], radius: float) -> TriangleMesh:
    """A level disc."""
    angle = np.linspace(0.0, 2.0 * np.pi, 65)[:-1]
    one, two = ground_axes(up)
    rim = middle + radius * (np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two)
    k = np.arange(1, 65)
    triangles = np.column_stack([np.zeros(64, int), k, np.roll(k, -1)])
    return TriangleMesh(np.vstack([middle, rim]), triangles.astype(np.int32), np.tile(up, (65, 1)))


def plain_text(text: str) -> str:
    """`text` escaped for Markdown that may contain HTML and JavaScript: all except letters, digits and spaces as
    character references."""
    return "".join(each if each.isalnum() or each == " " else f"&#{ord(each)};" for each in text)


def quaternion(R: Any) -> tuple[float, float, float, float]:
    """The rotation as (w, x, y, z)."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return float(w), float(x), float(y), float(z)
