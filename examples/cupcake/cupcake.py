"""Write cupcake.obj with its materials and textures: a cake in a fluted paper cup, in centimetres, the top at y = 0.

Any modelling program makes such a mesh; this file only shows what is in it.
"""

from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
FLUTES, AROUND = 30, 120
# profile from the middle of the bottom to the middle of the top: radius, height, depth of the flutes
CUP = [
    *[(0.0, -4.4, 0.0), (2.2, -4.4, 0.06), (2.4, -4.35, 0.1)],
    *[(2.75, -3.0, 0.12), (3.1, -1.6, 0.13), (3.3, -0.9, 0.14)],
]
CAKE = [
    *[(3.2, -0.85, 0.1), (3.38, -0.62, 0.0), (3.3, -0.38, 0.0), (2.9, -0.18, 0.0)],
    *[(2.2, -0.06, 0.0), (1.2, 0.0, 0.0), (0.0, 0.0, 0.0)],
]


def rings(profile: list[tuple[float, float, float]]) -> list[np.ndarray]:
    """Vertices of each ring of a profile."""
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    found = []
    for radius, height, flutes in profile:
        r = radius + flutes * np.cos(FLUTES * angle)
        found.append(np.stack([r * np.cos(angle), np.full(AROUND, height), -r * np.sin(angle)], axis=1))
    return found


def write() -> None:
    """Write the mesh, its materials and the textures."""
    profile = CUP + CAKE
    all_rings = rings(profile)
    lines = ["mtllib cupcake.mtl", "o cupcake"]
    count = len(profile)
    lines += [f"v 0 {profile[0][1]:g} 0"]
    for ring in all_rings[1:-1]:
        lines += [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in ring]
    lines += [f"v 0 {profile[-1][1]:g} 0"]
    # texture coordinates: u around, v along the profile of each part
    for part in (CUP, CAKE):
        way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff([p[:2] for p in part], axis=0).T))])
        for v in way / way[-1]:
            lines += [f"vt {k / AROUND:.4f} {v:.4f}" for k in range(AROUND + 1)]
    lines.append("usemtl paper")
    for row in range(count - 1):
        if row == len(CUP) - 1:
            lines.append("usemtl cake")
        lines += [" ".join(["f", *_face(row, k, count)]) for k in range(AROUND)]
    (HERE / "cupcake.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (HERE / "cupcake.mtl").write_text(
        "newmtl paper\nmap_Kd paper.png\nPr 0.7\n\nnewmtl cake\nmap_Kd cake.jpg\nPr 0.9\n", encoding="utf-8"
    )
    _paper().save(HERE / "paper.png", optimize=True)
    _cake().save(HERE / "cake.jpg", quality=85)


def _face(row: int, k: int, count: int) -> list[str]:
    """A quadrilateral between two rings, or a triangle at the middle of the bottom or top."""
    turns = [(row, k), (row, k + 1), (row + 1, k + 1), (row + 1, k)]
    corners = []
    for ring, place in turns:
        if ring == 0:
            vertex = 1
        elif ring == count - 1:
            vertex = 2 + AROUND * (count - 2)
        else:
            vertex = 2 + AROUND * (ring - 1) + place % AROUND
        # the ring between the parts has the coordinates of each
        own = ring if row < len(CUP) - 1 or ring >= len(CUP) else len(CUP)
        corners.append((vertex, 1 + (AROUND + 1) * own + place))
    unique = [corner for n, corner in enumerate(corners) if corner[0] not in {c[0] for c in corners[:n]}]
    return [f"{vertex}/{texture}" for vertex, texture in unique]


def _paper() -> Image.Image:
    """Stripes along the flutes, with a white rim."""
    u = np.arange(480) / 480
    stripe = np.where((FLUTES * u) % 2 < 1, 1.0, 0.0)
    low, high = np.array([226, 92, 122]), np.array([250, 236, 232])
    rows = np.broadcast_to(low + stripe[:, None] * (high - low), (128, 480, 3)).copy()
    rows[:8] = high
    return Image.fromarray(rows.astype(np.uint8)).quantize(16)


def _cake() -> Image.Image:
    """Brown with crumbs, darker at the rim."""
    random = np.random.default_rng(3)
    noise = sum(
        np.asarray(Image.fromarray(random.random((n, 2 * n)).astype(np.float32)).resize((512, 256), Image.BICUBIC)) / k
        for k, n in ((2, 20), (3, 60), (3, 128))
    )
    shade = 0.62 + 0.5 * (noise - noise.mean())
    color = shade[..., None] * np.array([176, 108, 58])
    return Image.fromarray(np.clip(color, 0, 255).astype(np.uint8))


if __name__ == "__main__":
    write()
