"""[Gerszewski09] figure 5: a stiff and a soft hyperelastic box."""

from reports.case import Outcome, Surroundings, at_most, differs, states

from figures.bodies import at_spacings, bodies, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels

SPACINGS = {"draft": (0.0125, 0.01), "medium": (0.01, 0.0077), "paper": (0.01145, 0.0077)}
TIMES = (0.0, 0.133, 0.15, 0.2, 0.25, 1.0)
"""Of the panels [s]."""
CREATED = 0.05
"""Largest created energy, over the largest energy of the points, for which a run does not warn."""


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "boxes", spacings)
    smallest: dict[str, list[float]] = {}
    rose: dict[str, list[float]] = {}
    created, rows = [], []
    for spacing, made in zip(spacings, runs):
        _, x = paths(made)
        for name, own in bodies(made).items():
            heights = [height(places[own]) / height(x[0][own]) for places in x]
            impact = min(range(len(heights)), key=heights.__getitem__)
            smallest.setdefault(name, []).append(heights[impact])
            rose.setdefault(name, []).append(max(float(places[own][:, 1].min()) for places in x[impact:]) / spacing)
            rows.append([name, f"{1e3 * spacing:g}", f"{heights[impact]:.4f}", f"{rose[name][-1]:.3f}"])
        energies = [record["kinetic_energy"] + record["elastic_energy"] for record in made.diagnostics]
        created.append(max(record["created_energy"] for record in made.diagnostics) / max(energies))
    columns = ("box", "spacing [mm]", "smallest height over the first", "largest rise after it [spacings]")
    save_csv(around.pictures, "gerszewski09-5", columns, rows)
    outcome = Outcome(
        [
            differs("smallest height over the first, stiff and soft", smallest["stiff box"], smallest["soft box"],
                    "less"),
            states("both bounce: lowest point leaves the ground by",
                   ", ".join(f"{value:.2g}" for each in rose.values() for value in each) + " spacings",
                   "more than one spacing", min(value for each in rose.values() for value in each) > 1.0),
            at_most("energy created, over the largest", max(created), CREATED),
        ]
    )  # fmt: skip
    file = save_panels(around, "gerszewski09-5", [Panel(runs[-1], time, "") for time in TIMES], 3)
    outcome.figures.append((file, "The stiff box is on the left. Our default forces, from a reference."))
    return outcome


FIGURE = Figure(
    "gerszewski09-5",
    "Figure 5: hyperelastic boxes",
    "Hyperelastic boxes dropped on the ground: the left cube is quite stiff, the right one softer.",
    run,
    paper="Gerszewski09",
    finding="Young's moduli of 200 and 20 kPa, chosen here; the squares of the stretches make the stress.",
)
