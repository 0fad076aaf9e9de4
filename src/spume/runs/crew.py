"""A run on several ranks, as its loop sees it: the writer has a `Method`, whose calls all ranks execute.

The loop over frames runs on the writer only. The others wait in `follow` for what the method is asked to do: be built,
advance, hand over all points, restore a state. So nothing but the writer writes, and the loop does not know how many
ranks there are.
"""

import contextlib
import itertools
import json
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from spume.errors import RunFailed, SpumeError
from spume.fields import Population
from spume.matter.method import ParticleMethod
from spume.matter.world import EXCHANGE, World
from spume.methods import Method, Progress, method_class
from spume.ranks.communicator import Communicator
from spume.ranks.migration import pack, unpack_points
from spume.ranks.ranks import ALONE
from spume.ranks.support import refuse_on_ranks
from spume.ranks.team import Team
from spume.runs.stopping import StopRequest, stop_on_signals
from spume.runs.storage import plain
from spume.scene.common import Scene
from spume.scene.loading import load_laws_of
from spume.terminal import readable_size, tell

Arrays = dict[str, NDArray[Any]]
ABORTED = 1
"""Exit code of ranks that end because another one failed."""


class Crew:
    """One process, which does everything itself."""

    size = 1

    def build(self, scene: Scene) -> Method:
        """A method of the scene."""
        return method_class(scene.method)(scene)

    def summary(self) -> str:
        """A line about the work of the ranks; empty for one process."""
        return ""


class Leader(Crew):
    """The writer among several ranks."""

    def __init__(self, messages: Communicator) -> None:
        self._messages = messages
        self.size = messages.size
        self._team: Team | None = None
        self._world: World[Any] | None = None
        self._first_step = 0
        self.lost = False
        """Whether the ranks are no longer at the same place, so that they can only be aborted."""

    def build(self, scene: Scene) -> Method:
        """A method of the scene, whose points the ranks share."""
        refuse_on_ranks(scene)
        team = Team(self._messages)
        self.command("build", json.dumps(plain(scene.resolved())))
        try:
            with team.agreed():  # all build theirs at the same time, since the first points may need messages
                inner = shared_method(scene, team)
        except SpumeError:
            raise
        except BaseException:
            self.lost = True
            raise
        method: Any = OnRanks(self, inner, team)  # which is not built from a scene alone, as methods are
        found: Method = method
        self._team, self._world = team, inner.world
        return found

    def summary(self) -> str:
        """See `Crew`: shares of the writer since this process was started."""
        if self._world is None or self._team is None or not self._world.steps:
            return ""
        seconds, steps = self._world.seconds, max(self._world.steps - self._first_step, 1)
        part = seconds.get(EXCHANGE, 0.0) / max(sum(seconds.values()), 1e-9)
        size = readable_size(self._messages.sent / steps)
        return (
            f"{self.size} ranks: {100 * part:.0f} % of the time in messages and waiting; the costliest rank has "
            f"{self._team.imbalance:.2f} times the mean; {size} and {self._messages.messages / steps:.0f} messages "
            "a step from the first"
        )

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
        self._whole: dict[str, Arrays] | None = None
        """All points of the present state by species, once they have been asked for."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return self._inner.name

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._inner.time

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """See `Method`."""
        self._whole = None
        self._leader.command("advance", until)
        try:
            done = self._inner.advance(until, interrupted, report)
        except RunFailed:  # agreed upon: all ranks have left the step
            raise
        except BaseException:
            self._leader.lost = True
            raise
        if not done and not interrupted():
            # Another rank was asked to stop. The loop learns of it as of a signal of its own.
            signal.raise_signal(signal.SIGTERM)
        return done

    def declarations(self) -> tuple[Population, ...]:
        """See `Method`."""
        return self._inner.declarations()

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """See `Method`."""
        with self._as_one():
            return self._inner.frame()

    def diagnostics(self) -> dict[str, Any]:
        """See `Method`."""
        with self._as_one():
            return self._inner.diagnostics()

    def checkpoint(self) -> tuple[Arrays, dict[str, Any]]:
        """See `Method`."""
        with self._as_one():
            return self._inner.checkpoint()

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """See `Method`. The number of ranks may be another than when the state was saved."""
        self._whole = None
        self._inner.restore(arrays, values)  # checks it
        self._leader.command("restore", values)
        self._leader.resumed_at(self._inner.world.steps)
        restore_share(self._inner, self._team, values)

    @contextlib.contextmanager
    def _as_one(self) -> Iterator[None]:
        """In the `with` block the method of the writer has all points, and no ranks."""
        if self._whole is None:
            self._leader.command("gather")
            self._whole = gather_points(self._inner, self._team)
        world = self._inner.world
        with contextlib.ExitStack() as stack:
            for species in world.species:
                stack.enter_context(species.particles.lent(self._whole[species.name]))
            world.share_with(ALONE)
            stack.callback(world.share_with, self._team)
            yield


def shared_method(scene: Scene, team: Team) -> ParticleMethod[Any, Any]:
    """A method of the scene on this rank."""
    kind: Any = method_class(scene.method)
    method: ParticleMethod[Any, Any] = kind(scene, team)
    return method


def gather_points(method: ParticleMethod[Any, Any], team: Team) -> dict[str, Arrays]:
    """All points by species, on the writer; nothing on the others."""
    whole = {}
    for species in method.world.species:
        arrays = species.particles.arrays()
        if (parts := team.messages.gather(pack(arrays))) is not None:
            whole[species.name] = unpack_points(arrays, parts)
    return whole


def restore_share(method: ParticleMethod[Any, Any], team: Team, values: dict[str, Any]) -> None:
    """Restore a state of which the writer has all points: each rank keeps a part of them, until the first step moves
    them to their owners."""
    own: Arrays = {}
    for species in method.world.species:
        arrays, parts = species.particles.arrays(), None
        if team.rank == 0:
            count = len(species.particles)
            bounds = [count * k // team.size for k in range(team.size + 1)]
            parts = [pack(arrays, slice(first, last)) for first, last in itertools.pairwise(bounds)]
        share = unpack_points(arrays, [team.messages.scatter(parts)])
        own |= {f"{species.name}/{name}": array for name, array in share.items()}
    method.restore(own, values)
    team.forget()


def follow(messages: Communicator) -> None:
    """Do what the writer says until it dismisses this rank."""
    team, method = Team(messages), None
    with stop_on_signals(lambda sentence: None) as stop:
        try:
            while True:
                name, arguments = messages.broadcast(None)
                if name == "end":
                    return
                if name == "build":
                    team = Team(messages)
                    # an error is told by the writer, which then dismisses this rank
                    with contextlib.suppress(SpumeError), team.agreed():
                        tables = json.loads(arguments[0])
                        load_laws_of(tables, True)  # the writer has asked
                        method = shared_method(Scene(**tables), team)
                else:
                    assert method is not None
                    _execute(method, team, name, arguments, stop)
        except BaseException as error:
            _report(messages.rank, error)
            messages.abort(ABORTED)


def _execute(
    method: ParticleMethod[Any, Any], team: Team, name: str, arguments: tuple[Any, ...], stop: StopRequest
) -> None:
    if name == "advance":
        with contextlib.suppress(RunFailed):  # the writer tells the user
            method.advance(arguments[0], stop, lambda progress: None)
    elif name == "gather":
        gather_points(method, team)
    elif name == "restore":
        restore_share(method, team, arguments[0])


def _report(rank: int, error: BaseException) -> None:
    if isinstance(error, SpumeError | KeyboardInterrupt):
        tell(f"error: on rank {rank}: {error}" if str(error) else f"stopped on rank {rank}")
    else:
        tell(f"error: rank {rank} failed:\n{''.join(traceback.format_exception(error))}")
    sys.stderr.flush()
