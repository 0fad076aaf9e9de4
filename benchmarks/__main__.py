"""Run all benchmarks: `make bench`."""

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import dryfoam, implicit, paper, points, sand, steps, transfers
from benchmarks.timing import machine

RESULTS = Path(__file__).parent / "results.json"


def table(title: str, *columns: str) -> Table:
    """A table with right-aligned numbers."""
    made = Table(title=title, title_justify="left")
    for k, column in enumerate(columns):
        made.add_column(column, justify="left" if k == 0 else "right")
    return made


def main() -> None:
    """Run the benchmarks, print the tables and write the JSON file."""
    console = Console(width=130)
    console.print(f"[bold]spume benchmarks[/bold] on {machine()}")
    results: dict = {"machine": machine()}

    results["transfers"] = rows = transfers.measure()
    shown = table("Transfers, 216,000 points, cubic, 3D [million points/s]", "implementation", "threads", "P2G", "G2P")
    for row in rows:
        shown.add_row(row["name"], str(row["threads"]), f"{row['P2G']:.2f}", f"{row['G2P']:.2f}")
    console.print(shown)
    ours = rows[0]
    for row in rows[1:]:
        if row["threads"] == 1:
            faster = f"P2G {ours['P2G'] / row['P2G']:.1f}×, G2P {ours['G2P'] / row['G2P']:.1f}×"
            console.print(f"  spume against {row['name']}: {faster}")

    results["whole step"] = rows = steps.whole_step()
    shown = table("Whole step of continuum foam, 216,000 points", "threads", "M particle-steps/s", "per core")
    for row in rows:
        shown.add_row(str(row["threads"]), f"{row['rate']:.2f}", f"{row['rate'] / row['threads']:.2f}")
    console.print(shown)
    console.print(f"  two threads relative to one: {rows[1]['rate'] / rows[0]['rate']:.2f}×")
    peer = results["taichi step"] = steps.taichi_step()
    if peer is not None:
        console.print(
            f"  the same step in Taichi, float32, 1 thread: {peer:.2f} M/s; spume {rows[0]['rate'] / peer:.1f}×"
        )
    shares = ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in rows[1]["share"].items())
    console.print(f"  time per stage (2 threads): {shares}")

    results["paper"] = rows = paper.measure()
    shown = table(
        "Yue et al. 2015: thousand particle-steps/s per core at its dt; last column: automatic steps over that dt",
        "scene", "points", "paper", "spume", "ratio", "automatic dt",
    )  # fmt: skip
    for row in rows:
        ratio = row["ours"] / row["paper"]
        shown.add_row(
            row["scene"], f"{row['points']:,}", f"{row['paper'] / 1e3:.1f}", f"{row['ours'] / 1e3:.0f}",
            f"{ratio:.0f}×", f"{row['longer steps']:.1f}×",
        )  # fmt: skip
    console.print(shown)

    results["growth"] = rows = steps.growth()
    shown = table("Scaling with the number of points, two threads", "points", "ns per point and step", "ms per step")
    for row in rows:
        shown.add_row(f"{row['points']:,}", f"{row['ns']:.0f}", f"{row['ms']:.2f}")
    console.print(shown)

    results["implicit"] = rows = implicit.measure()
    shown = table(
        "Implicit steps by ADMM, thousand point-steps per CPU second, one thread, and the code of Fang et al.",
        "scene", "points", "authors", "spume", "ratio",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            row["name"], f"{row['points']:,}", f"{row['authors'] / 1e3:.1f}", f"{row['rate'] / 1e3:.1f}",
            f"{row['rate'] / row['authors']:.1f}×",
        )  # fmt: skip
    console.print(shown)

    results["implicit, table 2"] = rows = implicit.paper_table()
    shown = table(
        "Implicit steps and table 2 of Fang et al., thousand point-steps per second and core",
        "scene", "points", "paper", "spume", "ratio",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            row["name"], f"{row['points']:,}", f"{row['paper'] / 1e3:.1f}", f"{row['rate'] / 1e3:.1f}",
            f"{row['rate'] / row['paper']:.1f}×",
        )  # fmt: skip
    console.print(shown)

    results["implicit, explicit"] = rows = implicit.against_explicit()
    shown = table(
        "A rubber block lands: CPU seconds per simulated second, implicit steps as long as the error allows",
        "Young's modulus [Pa]", "explicit", "error", "implicit", "dt [s]", "error", "explicit / implicit",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            f"{row['stiffness']:.0e}", f"{row['explicit']:.1f}", f"{100 * row['explicit error']:.2f} %",
            f"{row['implicit']:.1f}", f"{row['implicit dt']:g}", f"{100 * row['implicit error']:.2f} %",
            f"{row['explicit'] / row['implicit']:.2f}×",
        )  # fmt: skip
    console.print(shown)

    results["implicit, Newton"] = row = implicit.beside_newton()
    if row is not None:
        console.print(
            f"Elastic block of {row['points']:,} points, E = 1e6 Pa, dt = 1/300 s: {row['rate'] / 1e3:.1f} thousand "
            f"point-steps per CPU second; Newton {row['newton'] / 1e3:.1f}, {row['rate'] / row['newton']:.1f}×"
        )

    results["point-based"] = rows = points.measure()
    shown = table(
        "Point-based clay, one thread [million point-steps/s of CPU time]",
        "forces", "points", "neighbours", "rate", "relative to the paper",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            row["gradient"], f"{row['points']:,}", f"{row['neighbours']:.1f}", f"{row['rate'] / 1e6:.2f}",
            f"{row['rate'] / points.PAPER:.1f}×",
        )  # fmt: skip
    console.print(shown)

    peer = rows[0]["rate"] / points.SPLISHSPLASH
    console.print(f"  {peer:.1f}× an SPH elastic solid of SPlisHSPlasH, measured once on a similar machine")
    results["point-based, elastic sheet"] = row = points.elastic_sheet()
    console.print(
        f"Elastic sheet of {row['points']:,} points, {row['neighbours']:.0f} neighbours: {row['rate'] / 1e6:.2f} "
        f"million point-steps/s of CPU time, {row['rate'] / points.PYSPH:.1f}× PySPH, measured once"
    )
    results["point-based, Table 1"] = rows = points.table_1()
    shown = table(
        "Table 1 of Gerszewski et al. 2009 [thousand point-steps/s], one thread, the first steps",
        "figure", "scene", "points", "paper", "spume", "ratio",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            row["figure"], row["scene"], f"{row['points']:,}", f"{row['paper'] / 1e3:.1f}",
            f"{row['rate'] / 1e3:.0f}", f"{row['rate'] / row['paper']:.1f}×",
        )  # fmt: skip
    console.print(shown)
    results["point-based, memory"] = row = points.memory()
    console.print(f"  {row['bytes']:.0f} bytes per point, and {row['neighbour bytes']:.0f} for its neighbours")

    console.print("Sand and water")
    results["sand"] = sand.main([])

    results["dry foam"] = rows = dryfoam.growth(largest=10_000)
    shown = table(
        "Dry foam, CPU time of a coarsening frame, one thread [s]",
        "cells", "equilibrium", "frame", "best", "worst",
        "T1s", "T2s",
    )  # fmt: skip
    for row in rows:
        shown.add_row(
            f"{row['cells']:,}", *(f"{row[name]:.2f}" for name in ("equilibrium", "mean", "best", "worst")),
            str(row["flips"]), str(row["vanished"]),
        )  # fmt: skip
    console.print(shown)
    ratio = dryfoam.PAPER_SECONDS[10_000] / rows[-1]["mean"]
    console.print(f"  10,000 cells: {ratio:.0f}× the paper's speed, whose frame took 39.5 s on one core of 2 GHz")

    results["memory"] = row = steps.memory()
    console.print(
        f"Memory at {row['points']:,} points: {row['bytes']:.0f} bytes per point, and {row['grid']:.0f} for the grid"
    )
    results["start"] = row = steps.start_up()
    console.print(
        f"import spume {row['import']:.2f} s; from start to first step, with cached kernels, {row['first step']:.2f} s"
    )
    RESULTS.write_text(json.dumps(results, indent=1))
    console.print(f"written to {RESULTS}")


if __name__ == "__main__":
    main()
