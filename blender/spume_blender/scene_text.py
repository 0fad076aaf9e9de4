"""The text of a scene of spume from descriptions of marked objects. Nothing here needs Blender.

spume has y up and Blender z: (x, y, z) of Blender is (x, z, −y) of spume.
"""

import json
import math

import numpy as np

TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""From Blender's coordinates to those of spume."""


def text(title, method, cell, duration, rate, gravity, bodies, emitters, obstacles):
    """A scene file.

    bodies      name, material, file, velocity (Blender's coordinates), start
    emitters    name, material, place (4 × 4), radius, speed, stop, motion (keyframes)
    obstacles   name, contact, friction, file or files (a pattern) or plane (4 × 4), motion (keyframes or None), color
    """
    lines = [
        f"title = {_text(title)}", f"method = {_text(method)}", f"duration = {_number(duration)}",
        f"frame_rate = {_number(rate)}", f"gravity = {_vector(TURN @ np.asarray(gravity))}", "",
        "[grid]", f"cell = {_number(cell)}",
    ]  # fmt: skip
    for body in bodies:
        lines += ["", "[[body]]", f"name = {_text(body['name'])}", f"material = {_text(body['material'])}"]
        lines += [f"shape = {{ mesh = {{ file = {_text(body['file'])} }} }}"]
        if any(body["velocity"]):
            lines.append(f"velocity = {_vector(TURN @ np.asarray(body['velocity']))}")
        if body["start"] > 0:
            lines.append(f"start = {_number(body['start'])}")
    for emitter in emitters:
        place = np.asarray(emitter["place"], dtype=float)
        down = -place[:3, 2] / np.linalg.norm(place[:3, 2])
        lines += ["", "[[emitter]]", f"name = {_text(emitter['name'])}", f"material = {_text(emitter['material'])}"]
        opening = f"center = {_vector(TURN @ place[:3, 3])}, radius = {_number(emitter['radius'])}"
        lines.append(f"nozzle = {{ circle = {{ {opening} }} }}")
        lines.append(f"velocity = {_vector(TURN @ down * emitter['speed'])}")
        if emitter["stop"] > 0:
            lines.append(f"stop = {_number(emitter['stop'])}")
        lines += _motion(emitter["motion"])
    for obstacle in obstacles:
        lines += ["", "[[obstacle]]", f"name = {_text(obstacle['name'])}", f"contact = {_text(obstacle['contact'])}"]
        if obstacle["contact"] == "separate" and obstacle["friction"] > 0:
            lines.append(f"friction = {_number(obstacle['friction'])}")
        if obstacle.get("plane") is not None:
            place = np.asarray(obstacle["plane"], dtype=float)
            up = place[:3, 2] / np.linalg.norm(place[:3, 2])
            half = f"point = {_vector(TURN @ place[:3, 3])}, normal = {_vector(TURN @ up)}"
            lines.append(f"shape = {{ half_space = {{ {half} }} }}")
        elif obstacle.get("files"):
            sequence = f"files = {_text(obstacle['files'])}, frame_rate = {_number(rate)}"
            lines.append(f"shape = {{ mesh_sequence = {{ {sequence} }} }}")
        else:
            lines.append(f"shape = {{ mesh = {{ file = {_text(obstacle['file'])} }} }}")
        if obstacle.get("color") is not None:
            lines.append(f"look = {{ color = {_text(_hex(obstacle['color']))} }}")
        lines += _motion(obstacle["motion"])
    return "\n".join(lines) + "\n"


def keyframes(places, rate):
    """The motion of something whose matrices (4 × 4) at consecutive frames are `places`, from where it is in the first;
    None if it is at rest, or "deforms" if it is not rigid."""
    first = np.asarray(places[0], dtype=float)
    about = first[:3, 3]
    inverse = np.linalg.inv(first)
    positions, rotations, before = [], [], np.zeros(3)
    for place in places:
        relative = np.asarray(place, dtype=float) @ inverse
        R = relative[:3, :3]
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-4:
            return "deforms"
        before = _rotation_vector(R, before)
        rotations.append(np.degrees(TURN @ before))
        positions.append(TURN @ (np.asarray(place, dtype=float)[:3, 3] - about))
    if np.abs(positions).max() < 1e-7 and np.abs(rotations).max() < 1e-5:
        return None
    times = [k / rate for k in range(len(places))]
    return {"times": times, "positions": positions, "rotations": rotations, "about": TURN @ about}


def _rotation_vector(R, near):
    """The axis times the angle [rad] of a rotation, of those the nearest to `near`, so that full turns are counted."""
    cosine = min(max((np.trace(R) - 1.0) / 2.0, -1.0), 1.0)
    angle = math.acos(cosine)
    if angle < 1e-9:
        length = np.linalg.norm(near)
        turns = round(length / (2 * math.pi))
        return np.zeros(3) if length == 0 else near / length * 2 * math.pi * turns
    if angle > math.pi - 1e-6:
        values, vectors = np.linalg.eigh((R + R.T) / 2)
        axis = vectors[:, int(np.argmax(values))]
        axis = axis if axis @ near >= 0 else -axis
    else:
        axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (2.0 * math.sin(angle))
    turns = round((near @ axis - angle) / (2 * math.pi))
    best = [(angle + 2 * math.pi * (turns + k)) * axis for k in (-1, 0, 1)]
    return min(best, key=lambda vector: np.linalg.norm(vector - near))


def _motion(motion):
    if motion is None:
        return []
    rows = [f"times = [{', '.join(_number(time) for time in motion['times'])}]"]
    rows.append(f"positions = [{', '.join(_vector(place) for place in motion['positions'])}]")
    rows.append(f"rotations = [{', '.join(_vector(turn) for turn in motion['rotations'])}]")
    rows.append(f"about = {_vector(motion['about'])}")
    return [f"motion = {{ keyframes = {{ {', '.join(rows)} }} }}"]


def _text(value):
    return json.dumps(str(value), ensure_ascii=False)


def _number(value):
    return repr(float(f"{float(value):.9g}"))


def _vector(values):
    return f"[{', '.join(_number(value + 0.0) for value in values)}]"


def _hex(color):
    """Linear RGB as '#rrggbb' in sRGB."""
    c = np.clip(np.asarray(color, dtype=float)[:3], 0.0, 1.0)
    encoded = np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * part):02x}" for part in encoded)


def obj(vertices, triangles):
    """The text of an OBJ file with vertices in Blender's coordinates."""
    x = np.asarray(vertices, dtype=float) @ TURN.T
    lines = ["v {:.9g} {:.9g} {:.9g}".format(*place) for place in x.tolist()]
    lines += ["f {} {} {}".format(*(corner + 1 for corner in face)) for face in np.asarray(triangles).tolist()]
    return "\n".join(lines) + "\n"
