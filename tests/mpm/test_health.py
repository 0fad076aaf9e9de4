"""Runs that go wrong stop with a cause that fits their material."""

import math

import numpy as np
import pytest

from spume.errors import RunFailed
from spume.materials import LAWS
from spume.materials.loops import ConstitutiveModel
from spume.matter.health import check_points
from spume.matter.particles import Particles, point_fields

SAND = {"density": 1600.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3, "friction_angle": 30.0}
WATER = {"density": 1000.0, "bulk_modulus": 1e6}


def one_point(law, parameters, **values):
    """Check a point of a law with the history `values`."""
    law = LAWS[law]
    model = ConstitutiveModel([(law, law.parameters(**parameters))])
    p = Particles([point_fields(3, True), model.fields])
    p.add(1, x=np.zeros((1, 3)), mass=1.0, volume=1.0, **values)
    check_points(p, model, "point", 1.5, 0.1, None)


def test_crushed_water_is_told_its_sound():
    with pytest.raises(
        RunFailed, match=r"crushed to 0.01 times.*a tenth of its speed of sound, 31.6 m/s.*raise its bulk_modulus"
    ):
        one_point("water", WATER, Jw=0.01, v=[[3.0, 0.0, 0.0]])


def test_spray_and_separated_sand_may_take_any_room():
    """Neither carries stress there."""
    one_point("water", WATER, Jw=1e4)
    one_point("drucker-prager", SAND, gained_volume=math.log(1e4))


def test_water_with_tension_may_not():
    with pytest.raises(RunFailed, match="blown up to 100 times"):
        one_point("water", WATER | {"tension": "full"}, Jw=100.0)


def test_sand_stretched_by_its_cohesion_is_told_the_tip_of_its_cone():
    """b = 100 I stretches every axis tenfold; the tip is at c_C/(c_F (2 μ + 3 λ)) = 3 c cot φ (1 − 2 ν)/E."""
    tip = 3.0 * 1e6 / math.tan(math.radians(30.0)) / (1e6 / (1.0 - 0.6))
    with pytest.raises(RunFailed, match=rf"blown up.*a strain of {tip:.3g}, the tip of its cone; lower the cohesion"):
        one_point("drucker-prager", SAND | {"cohesion": 1e6}, b=[[100.0, 100.0, 100.0, 0.0, 0.0, 0.0]])
