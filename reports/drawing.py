"""Common style of the plots."""

from pathlib import Path
from typing import Any

from spume.extras import require

OURS = {"color": "#c8553d", "linestyle": "none", "marker": "o", "markersize": 4.0}
THEIRS = {"color": "#1f3044", "linewidth": 1.4}
COLOURS = ("#c8553d", "#2a7f7f", "#8a6fb0", "#d9a441", "#5b7db1")


def panels(count: int = 1, height: float = 3.6) -> tuple[Any, Any]:
    """A Matplotlib figure with `count` axes side by side, and the axes."""
    matplotlib = require("matplotlib.figure", "drawing the plots")
    figure = matplotlib.Figure(figsize=(4.8 * count if count > 1 else 6.0, height), layout="constrained")
    made = figure.subplots(1, count, squeeze=False)[0]
    for axes in made:
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, made


def save(figure: Any, folder: Path, name: str) -> str:
    """Write the figure as PNG; return the name of its file."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=110)
    return f"{name}.png"
