"""Mesh files for tests: a crate in two materials, one of them textured."""

import io
from pathlib import Path

import numpy as np

QUADS = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
"""Faces of a cube whose corner k is at the binary digits of k (z, y, x), counter-clockwise seen from outside."""
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
LEFT, RIGHT = (255, 0, 0), (0, 0, 255)
"""Colours of the texture's halves."""


def corners(size: float) -> np.ndarray:
    """The corners of a cube around the origin [m]."""
    return size * (np.array([(k & 1, k >> 1 & 1, k >> 2 & 1) for k in range(8)], dtype=float) - 0.5)


def picture() -> bytes:
    """A PNG of 8 × 4 pixels: red on the left, blue on the right."""
    from PIL import Image

    pixels = np.zeros((4, 8, 3), np.uint8)
    pixels[:, :4], pixels[:, 4:] = LEFT, RIGHT
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write_crate(folder: Path, size: float = 0.2, name: str = "crate") -> Path:
    """An OBJ file with its MTL and texture: four painted faces with the whole picture on each, two bare ones."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paint.png").write_bytes(picture())
    (folder / f"{name}.mtl").write_text(
        "newmtl painted wood\nKd 1 1 1\nmap_Kd -s 1 1 1 paint.png\nPr 0.9\n\n"
        "newmtl bare\nKd 0.5 0.25 0.125\nPm 1\nd 1\n"
    )
    lines = [f"mtllib {name}.mtl", *("v {} {} {}".format(*corner) for corner in corners(size).tolist())]
    lines += ["vt {} {}".format(*pair) for pair in SQUARE]
    for material, faces in (("painted wood", QUADS[:4]), ("bare", QUADS[4:])):
        lines.append(f"usemtl {material}")
        lines += ["f " + " ".join(f"{place + 1}/{k + 1}" for k, place in enumerate(face)) for face in faces]
    file = folder / f"{name}.obj"
    file.write_text("\n".join(lines) + "\n")
    return file
