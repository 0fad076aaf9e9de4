"""The method "dry-foam"."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.equilibrium.report import Events, Exchange, Options
from spume.dryfoam.foam import Foam
from spume.dryfoam.logs import DROPS, T1S, Drop, drops_of, log_arrays, t1s_of
from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import checked_network
from spume.dryfoam.network.seeds import SignedDistance
from spume.dryfoam.statistics import summary
from spume.fields import Field, Population
from spume.methods import Estimate, Progress

if TYPE_CHECKING:
    from spume.geometry.shapes import Shape
    from spume.scene.dry_foam import DryFoamScene

SECONDS_PER_CELL_STEP = 8e-5
"""Wall time of a coarsening step per cell on a typical machine [s]."""
BYTES_PER_CELL = 12_000
"""Peak memory per cell, mostly for the factors of the sparse system [bytes]."""

BUBBLES = (
    Field("pressures", unit="N/m", description="pressure"),
    Field("targets", unit="m²", description="area"),
    Field("labels", dtype="int64", description="permanent number of a bubble"),
)
FILMS = (Field("half_angles", unit="rad", description="half the angle by which a film turns left, from its first end"),)
HALF_EDGES = (
    Field("origin", dtype="int64", description="start vertex of each half-edge; 2e and 2e+1 are film e"),
    Field("next", dtype="int64", description="next half-edge around the cell on its left"),
    Field("previous", dtype="int64", description="previous half-edge around the cell on its left"),
    Field("cell", dtype="int64", description="cell left of each half-edge, -1 is the outside"),
    Field("shift", (2,), dtype="int64", description="lattice vectors from the stored to the true end of a half-edge"),
)
VERTICES = (
    Field("positions", (2,), unit="m", description="position"),
    Field("wall", dtype="int64", description="wall on which a vertex slides, -1 for none"),
)
BOX = (
    Field(
        "lattice", (2,), unit="m", description="columns are the lattice vectors of the box, zero if it is not periodic"
    ),
)
WALLS = (Field("walls", (4,), description="a point of each wall [m] and its direction, the foam on its left"),)
NETWORK = tuple(
    Population(name, fields, "table")
    for name, fields in (
        ("bubbles", BUBBLES),
        ("films", FILMS),
        ("half_edges", HALF_EDGES),
        ("vertices", VERTICES),
        ("box", BOX),
        ("wall_lines", WALLS),
    )
)
"""Populations whose fields are the arrays of a Network."""
LOGS = (Population("t1s", T1S, "table"), Population("drops", DROPS, "table"))
"""Logs since the previous frame: every T1, and the energy released by T1s in each increment of strain."""
POPULATIONS = NETWORK + LOGS
"""Populations of a frame."""


class DryFoamMethod:
    """Coarsening, deformation and bursting of a dry foam, in the order of their times."""

    name: ClassVar[str] = "dry-foam"

    def __init__(self, scene: "DryFoamScene") -> None:
        self.scene = scene
        self.time = 0.0
        self.steps = 0
        self.last_step = 0.0
        self.strain = 0.0
        self.t1s: list[Exchange] = []
        """T1s since the last frame; those of the first equilibrium are not counted."""
        self.drops: list[Drop] = []
        """Energy releases by T1s in the deformation since the last frame."""
        self.released = 0.0
        """Energy released by T1s in the deformation so far [J/m]."""
        self.is_frame_done = True
        """Whether the last call of `advance` was completed, so that the next one begins a frame."""
        table = scene.foam
        shape = _signed_distance(table.shape) if table.shape is not None else None
        self.foam = Foam.voronoi(
            table.cells, table.boundary, scene.seed, table.tension,
            scene.coarsening.diffusion if scene.coarsening else 1.0,
            cell_area=table.cell_area, seeds=table.seeds, polydispersity=table.polydispersity, shape=shape,
            aspect=table.aspect,
        )  # fmt: skip
        self.foam.options = Options(**scene.equilibrium.model_dump())
        if table.start == "equilibrium":
            self.foam.equilibrate()

    @classmethod
    def estimate(cls, scene: "DryFoamScene") -> Estimate:
        """Estimate the cost of `scene` from the growth law ⟨A⟩ = A0 + 1.2 K T t."""
        cells, steps, work = float(scene.foam.cells), 0.0, 30.0 * scene.foam.cells
        if scene.coarsening is not None:
            least = _least_cells(scene)
            steps = np.log(cells / least) / (1.2 * scene.coarsening.event_tolerance)
            work += (cells - least) / (1.2 * scene.coarsening.event_tolerance)
        if scene.deformation is not None:
            increments = abs(scene.deformation.rate) * scene.duration / scene.deformation.increment
            steps += increments
            work += 2.0 * increments * cells
        seconds = SECONDS_PER_CELL_STEP * work
        return Estimate(int(cells), int(BYTES_PER_CELL * cells) + 200_000_000, int(steps) + 1, float(seconds))

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to `until` [s]; return False if interrupted before."""
        if not self.foam.equilibrated:
            self.foam.equilibrate()
        if self.is_frame_done:
            self.t1s, self.drops = [], []
        self.is_frame_done = False
        while self.time < until:
            if interrupted():
                return False
            known = len(self.foam.exchanges)
            self._step(min(until, self._next_collapse()))
            self._burst()
            self.t1s += self.foam.exchanges[known:]
            report(Progress(self.time, self.foam.cells, self.steps, self.last_step, self._done()))
        self.is_frame_done = True
        return True

    def _done(self) -> float | None:
        """Fraction of the work done. Each step removes cells, and its cost is proportional to the number of cells."""
        if self.scene.coarsening is None:
            return None
        cells, least = float(self.scene.foam.cells), _least_cells(self.scene)
        return min(1.0, (cells - self.foam.cells) / (cells - least)) if cells > least else None

    def _next_collapse(self) -> float:
        return min((entry.time for entry in self.scene.collapse if entry.time > self.time), default=np.inf)

    def _step(self, until: float) -> None:
        """Take one step of coarsening, deformation or both, at most to `until` [s]."""
        rule, deformation = self.scene.coarsening, self.scene.deformation
        dt = until - self.time
        if deformation is not None and deformation.rate != 0.0:
            dt = min(dt, deformation.increment / abs(deformation.rate))
            dt = min(dt, _next_turn(self.time, deformation.rate, deformation.amplitude) - self.time)
        if rule is not None and self.foam.cells > rule.until_cells:
            events = self.foam.coarsen(
                dt, until_cells=rule.until_cells, scheme=rule.scheme, event_tolerance=rule.event_tolerance, most_steps=1
            )
            dt = min(dt, events.duration)
        if deformation is not None:
            move = self.foam.shear if deformation.kind == "shear" else self.foam.extend
            strain = imposed_strain(self.time + dt, deformation.rate, deformation.amplitude)
            self.foam.time = self.time + dt
            record = move(strain - self.strain, steps=1)
            self.strain = self.foam.strain = strain
            if record.flips[-1]:
                self.released += record.released[-1]
                self.drops.append(
                    Drop(self.foam.time, strain, record.released[-1], record.flips[-1], record.shear_stress[-1])
                )
        # exactly the frame's time, despite rounding of the sum of steps
        self.time = until if self.time + dt >= until * (1.0 - 1e-12) else self.time + dt
        self.foam.time = self.time
        self.last_step = dt
        self.steps += 1

    def _burst(self) -> None:
        for entry in self.scene.collapse:
            if self.time - self.last_step < entry.time <= self.time or (entry.time == 0.0 and self.steps == 1):
                index = np.flatnonzero(self.foam.labels == entry.cell)
                if len(index):
                    self.foam.collapse(int(index[0]))

    def declarations(self) -> tuple[Population, ...]:
        """Populations of bubbles, films and their connections, and the logs."""
        return POPULATIONS

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Arrays of the network, and logs since the last frame."""
        arrays = self.foam.network.arrays()
        found = {each.name: {field.name: arrays[field.name] for field in each.fields} for each in NETWORK}
        return found | log_arrays(self.t1s, self.drops)

    def diagnostics(self) -> dict[str, Any]:
        """Counts, energy, stress and the statistics of cells."""
        return {
            "points": self.foam.cells,
            "steps": self.steps,
            "dt": self.last_step,
            "strain": self.strain,
            "released": self.released,
            **summary(self.foam),
        }

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The network and the counters."""
        foam = self.foam
        happened = {**foam.happened.counts(), "duration": foam.happened.duration}
        values = {
            "time": self.time, "steps": self.steps, "last_step": self.last_step, "strain": self.strain,
            "happened": happened, "notices": list(foam.notices), "equilibrated": foam.equilibrated,
            "released": self.released, "is_frame_done": self.is_frame_done,
        }  # fmt: skip
        arrays = {name: array.copy() for name, array in foam.network.arrays().items()}
        for log, fields in log_arrays(self.t1s, self.drops).items():
            arrays |= {f"{log}/{name}": array for name, array in fields.items()}
        return arrays, values

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        foam = self.foam
        logs: dict[str, dict[str, NDArray[Any]]] = {"t1s": {}, "drops": {}}
        for name in [name for name in arrays if "/" in name]:
            log, _, field = name.partition("/")
            logs[log][field] = arrays[name]
        self.t1s, self.drops = t1s_of(logs["t1s"]), drops_of(logs["drops"])
        # checkpoints of early versions contain no logs
        self.released, self.is_frame_done = values.get("released", 0.0), values.get("is_frame_done", True)
        network = checked_network({name: np.array(array) for name, array in arrays.items() if "/" not in name})
        if not (np.minimum(cell_areas(network), network.targets) > 0.0).all():
            raise ValueError("the foam network is not valid: a cell has no area")
        foam.network = network
        self.time = foam.time = values["time"]
        self.steps, self.last_step, self.strain = values["steps"], values["last_step"], values["strain"]
        foam.strain = self.strain
        foam.happened, foam.notices = Events(**values["happened"]), list(values["notices"])
        foam.equilibrated = values["equilibrated"]


def imposed_strain(time: float, rate: float, amplitude: float | None) -> float:
    """Strain at `time` [s]: it changes at `rate` [1/s] and, with an amplitude, reverses at plus and minus that."""
    strain = rate * time
    if amplitude is None:
        return strain
    phase = (strain / amplitude + 1.0) % 4.0  # triangular wave of period 4, from -1 up to 1 and back
    return amplitude * (phase - 1.0 if phase <= 2.0 else 3.0 - phase)


def _next_turn(time: float, rate: float, amplitude: float | None) -> float:
    """Time [s] of the next reversal of the strain after `time`."""
    if amplitude is None:
        return np.inf
    turns = np.floor((abs(rate) * time / amplitude + 1.0) / 2.0 + 1e-9) + 1.0
    return float((2.0 * turns - 1.0) * amplitude / abs(rate))


def _signed_distance(shape: "Shape") -> SignedDistance:
    from spume.geometry.sdf.compiler import compile_shape
    from spume.geometry.sdf.evaluation import distances

    program = compile_shape(shape, 2)
    return lambda points: distances(program, points)


def _least_cells(scene: "DryFoamScene") -> float:
    """Number of cells at the end of a coarsening scene, by the growth law ⟨A⟩ = A0 + 1.2 K T t."""
    assert scene.coarsening is not None
    per_mean_area = 1.2 * scene.coarsening.diffusion * scene.foam.tension / scene.foam.cell_area
    return max(scene.coarsening.until_cells, scene.foam.cells / (1.0 + per_mean_area * scene.duration))
