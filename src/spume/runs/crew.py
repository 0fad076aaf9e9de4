"""A run on several ranks, as its loop sees it: the writer has a `Method`, whose calls all ranks execute.

The loop over frames runs on the writer only. The others wait in `follow` for what the method is asked to do: be built,
advance, sum, write their parts of a frame, restore a state. So the loop does not know how many ranks there are.
"""

import contextlib
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from spume.errors import CacheError, RunFailed, SpumeError
from spume.fields import Population
from spume.matter.method import ParticleMethod
from spume.matter.sources import share_sources
from spume.matter.world import EXCHANGE, World
from spume.methods import Estimate, Method, Progress, method_class
from spume.ranks.communicator import Communicator
from spume.ranks.support import refuse_on_ranks
from spume.ranks.team import Team
from spume.runs.changes import with_scene
from spume.runs.parts import part_files, remove_folder, verify_some_parts, verify_whole, write_index
from spume.runs.shared import (
    changed_share,
    gather_whole,
    restore_parts,
    restore_share,
    shared_method,
    write_own_part,
)
from spume.runs.stopping import StopRequest, stop_on_signals
from spume.runs.storage import plain, stored_arrays, verify_arrays, write_arrays
from spume.scene.common import Scene
from spume.scene.loading import load_laws_of
from spume.scene.material_scene import MaterialScene
from spume.terminal import tell

Arrays = dict[str, NDArray[Any]]
What = Literal["frame", "checkpoint"]
WHOLE_UP_TO = 200_000
"""Number of points up to which several ranks write one file: the writer then holds them all."""
ABORTED = 1
"""Exit code of ranks that end because another one failed."""


class Crew:
    """One process, which does everything itself."""

    size = 1
    share = 1.0
    """Part of the points that is on this machine."""

    def estimate(self, scene: Scene) -> Estimate:
        """Points, memory and time of the scene."""
        return method_class(scene.method).estimate(scene)

    def build(self, scene: Scene) -> Method:
        """A method of the scene."""
        return method_class(scene.method)(scene)

    def changed(self, method: Method, scene: Scene) -> Method:
        """A method of `scene` in the state of `method`; see `with_scene`."""
        return with_scene(method, scene)

    def report(self) -> dict[str, Any]:
        """Numbers about the work of the ranks, see `rank_sentence`; none for one process."""
        return {}

    def write(
        self, method: Method, what: What, path: Path, make_folder: Callable[[], Path], about: dict[str, Any]
    ) -> None:
        """Write a frame or checkpoint with the metadata `about` to `path`. If it is in parts, `make_folder` makes the
        place for them."""
        arrays, values = (stored_arrays(method.frame()), {}) if what == "frame" else method.checkpoint()
        write_arrays(path, arrays, about_whole(what, about, values))
        with contextlib.suppress(OSError):
            remove_folder(path.with_suffix(".parts"))  # of a run on more ranks

    def verify(self, path: Path) -> None:
        """Read a frame or checkpoint once, and raise CacheError if it is damaged."""
        verify_whole(path)

    def restore_parts(self, method: Method, path: Path, values: dict[str, Any]) -> None:
        """Let `method` continue from the checkpoint at `path`, of which it is to read the parts."""
        raise NotImplementedError("one process reads a checkpoint whole")


class Leader(Crew):
    """The writer among several ranks."""

    def __init__(self, messages: Communicator) -> None:
        self._messages = messages
        self.size = messages.size
        self._team: Team | None = None
        self._world: World[Any] | None = None
        self._first_step = 0
        self._known = ""
        """The scene that the others have."""
        self.lost = False
        """Whether the ranks are no longer at the same place, so that they can only be aborted."""

    def estimate(self, scene: Scene) -> Estimate:
        """See `Crew`. No rank enumerates all points."""
        refuse_on_ranks(scene)
        self._tell(scene)
        team = Team(self._messages)
        assert isinstance(scene, MaterialScene)  # as those of all methods with points
        with self._at_the_same_time("share"):
            self.share = team.share_of_machine()
            with team.agreed(speaking=True):
                share_sources(scene, team)
        return super().estimate(scene)

    def build(self, scene: Scene) -> Method:
        """A method of the scene, whose points the ranks share."""
        refuse_on_ranks(scene)
        self._tell(scene)
        team = Team(self._messages)
        with self._at_the_same_time("build"), team.agreed(speaking=True):
            inner = shared_method(scene, team)
        method: Any = OnRanks(self, inner, team)  # which is not built from a scene alone, as methods are
        found: Method = method
        self._team, self._world = team, inner.world
        return found

    def write(
        self, method: Method, what: What, path: Path, make_folder: Callable[[], Path], about: dict[str, Any]
    ) -> None:
        """See `Crew`."""
        assert isinstance(method, OnRanks)
        if method.count_points() <= WHOLE_UP_TO:
            super().write(method, what, path, make_folder, about)
        else:
            method.write_parts(what, path, make_folder(), about)

    def verify(self, path: Path) -> None:
        """See `Crew`: each rank reads some of the parts."""
        verify_arrays(path)
        if part_files(path):
            with self._at_the_same_time("verify", str(path)), Team(self._messages).agreed():
                verify_some_parts(path, 0, self.size)

    def restore_parts(self, method: Method, path: Path, values: dict[str, Any]) -> None:
        """See `Crew`."""
        assert isinstance(method, OnRanks)
        method.restore_parts(path, values)

    def changed(self, method: Method, scene: Scene) -> Method:
        """See `Crew`."""
        assert isinstance(method, OnRanks)
        refuse_on_ranks(scene)
        self._world = method.change(scene)
        return method

    def report(self) -> dict[str, Any]:
        """See `Crew`: of the writer, since this process was started."""
        if self._world is None or self._team is None or not self._world.steps:
            return {}
        seconds, steps = self._world.seconds, max(self._world.steps - self._first_step, 1)
        return {
            "size": self.size,
            "waiting": seconds.get(EXCHANGE, 0.0) / max(sum(seconds.values()), 1e-9),
            "imbalance": self._team.imbalance,
            "bytes_per_step": self._messages.sent / steps,
            "messages_per_step": self._messages.messages / steps,
        }

    def _tell(self, scene: Scene) -> None:
        """Let the others have the scene."""
        tables = json.dumps(plain(scene.resolved()))
        if tables != self._known:
            self._known = tables
            self.command("scene", tables)
            with Team(self._messages).agreed():
                pass  # the others have read it

    @contextlib.contextmanager
    def _at_the_same_time(self, name: str, *arguments: Any) -> Iterator[None]:
        self.command(name, *arguments)
        try:
            yield
        except SpumeError:
            raise
        except BaseException:
            self.lost = True
            raise

    def command(self, name: str, *arguments: Any) -> None:
        """Tell the others what is done next."""
        self._messages.broadcast((name, arguments))

    def resumed_at(self, steps: int) -> None:
        """The run goes on after so many steps."""
        self._first_step = steps

    def dismiss(self) -> None:
        """Let the others end; after an error in the middle of a step there is no way but to abort them."""
        if self.lost:
            self._messages.abort(ABORTED)
        self.command("end")


class OnRanks:
    """A method whose points are shared by ranks, on the writer: what the loop uses of a `Method`."""

    def __init__(self, leader: Leader, inner: ParticleMethod[Any, Any], team: Team) -> None:
        self._leader, self._inner, self._team = leader, inner, team

    @property
    def name(self) -> str:
        """Name of the method."""
        return self._inner.name

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._inner.time

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """See `Method`; False also if another rank was asked to stop."""
        with self._all_do("advance", until, agreed=RunFailed):
            return self._inner.advance(until, interrupted, report)

    def declarations(self) -> tuple[Population, ...]:
        """See `Method`."""
        return self._inner.declarations()

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """See `Method`: with all points."""
        with self._all_do("gather", "frame"):
            arrays, _ = gather_whole(self._inner, self._team, "frame")
        frame: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in arrays.items():
            population, _, field = name.partition("/")
            frame.setdefault(population, {})[field] = array
        return frame

    def diagnostics(self) -> dict[str, Any]:
        """See `Method`: sums over the points of all ranks."""
        with self._all_do("diagnose"):
            return self._inner.diagnostics()

    def checkpoint(self) -> tuple[Arrays, dict[str, Any]]:
        """See `Method`: with all points."""
        with self._all_do("gather", "checkpoint"):
            return gather_whole(self._inner, self._team, "checkpoint")

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """See `Method`. The number of ranks may be another than when the state was saved."""
        self._inner.restore(arrays, values)  # checks it
        with self._all_do("restore", values):
            restore_share(self._inner, self._team, values)
        self._leader.resumed_at(self._inner.world.steps)

    def restore_parts(self, path: Path, values: dict[str, Any]) -> None:
        """Restore a checkpoint in parts, whoever wrote them."""
        with self._all_do("restore parts", str(path), values, agreed=CacheError):
            restore_parts(self._inner, self._team, str(path), values)
        self._leader.resumed_at(self._inner.world.steps)

    def change(self, scene: Scene) -> World[Any]:
        """Go on with another scene, see `with_scene`. Return its world."""
        with self._all_do("change", json.dumps(plain(scene.resolved())), agreed=SpumeError):
            self._inner = changed_share(self._inner, self._team, scene)
        return self._inner.world

    def count_points(self) -> int:
        """Number of points of all ranks."""
        with self._all_do("count"):
            return self._team.count(self._inner.world.count)

    def write_parts(self, what: str, path: Path, folder: Path, about: dict[str, Any]) -> None:
        """Write a "frame" or "checkpoint" to `path`, with its points in parts in `folder`."""
        try:
            with self._all_do("write", what, str(folder), agreed=CacheError):
                checksums, arrays, values = write_own_part(self._inner, self._team, what, str(folder))
            write_index(path, folder, checksums, arrays, about_whole(what, about, values))
        except CacheError:
            with contextlib.suppress(OSError):
                remove_folder(folder)  # a full disk has room again
            raise

    @contextlib.contextmanager
    def _all_do(self, name: str, *arguments: Any, agreed: type[SpumeError] | tuple[()] = ()) -> Iterator[None]:
        """What all ranks do is done in the `with` block. After an error that is not `agreed` upon, some may wait for
        messages that never come."""
        self._leader.command(name, *arguments)
        try:
            yield
        except BaseException as error:
            self._leader.lost = not isinstance(error, agreed)
            raise


def about_whole(what: str, about: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a frame or checkpoint."""
    return about if what == "frame" else about | {"values": values}


def follow(messages: Communicator) -> None:
    """Do what the writer says until it dismisses this rank."""
    team, method = Team(messages), None
    scene: Any = None
    with stop_on_signals(lambda sentence: None) as stop:
        try:
            while True:
                name, arguments = messages.broadcast(None)
                if name == "end":
                    return
                if name in ("scene", "share", "build"):
                    new = Team(messages)
                    if name == "share":
                        new.share_of_machine()
                    # an error is told by the writer, which then dismisses this rank
                    with contextlib.suppress(SpumeError), new.agreed(speaking=True):
                        if name == "scene":
                            tables = json.loads(arguments[0])
                            load_laws_of(tables, True)  # the writer has asked
                            scene = Scene(**tables)
                        elif name == "share":
                            share_sources(scene, new)
                        else:
                            method, team = shared_method(scene, new), new
                elif name == "verify":
                    with contextlib.suppress(CacheError), team.agreed():
                        verify_some_parts(Path(arguments[0]), team.rank, team.size)
                elif name == "change":
                    assert method is not None
                    with contextlib.suppress(SpumeError):  # told by the writer, too
                        method = changed_share(method, team, Scene(**json.loads(arguments[0])))
                else:
                    assert method is not None
                    _execute(method, team, name, arguments, stop)
        except BaseException as error:
            _report(messages.rank, error)
            messages.abort(ABORTED)


def _execute(
    method: ParticleMethod[Any, Any], team: Team, name: str, arguments: tuple[Any, ...], stop: StopRequest
) -> None:
    with contextlib.suppress(RunFailed, CacheError):  # agreed upon: the writer tells the user
        if name == "advance":
            method.advance(arguments[0], stop, lambda progress: None)
        elif name == "gather":
            gather_whole(method, team, arguments[0])
        elif name == "diagnose":
            method.diagnostics()
        elif name == "count":
            team.count(method.world.count)
        elif name == "write":
            write_own_part(method, team, *arguments)
        elif name == "restore":
            restore_share(method, team, arguments[0])
        elif name == "restore parts":
            restore_parts(method, team, *arguments)


def _report(rank: int, error: BaseException) -> None:
    if isinstance(error, SpumeError | KeyboardInterrupt):
        tell(f"error: on rank {rank}: {error}" if str(error) else f"stopped on rank {rank}")
    else:
        tell(f"error: rank {rank} failed:\n{''.join(traceback.format_exception(error))}")
    sys.stderr.flush()
