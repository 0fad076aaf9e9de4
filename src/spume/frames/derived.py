"""Stress and pressure of points, derived from what frames hold when they are read.

The Cauchy stress is σ = τ/J with the Kirchhoff stress τ that the law gives for the history of a point, and the pressure
−tr σ/3. Frames can hold them (`[frames] fields`). Otherwise they are computed from the history, if the frames hold all
of it, with the parameters that the scene has at the time of the frame: for foams and other laws of [Yue15], but not for
laws whose history is in checkpoints only. Torn material bears no tension.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SpumeError
from spume.fields import VOLUME_RATIO
from spume.matter.stress import cauchy_stress, pressure_of
from spume.scene.common import Scene

if TYPE_CHECKING:
    from spume.materials.loops import ConstitutiveModel

STRESS, PRESSURE = "stress", "pressure"
NAMES = (STRESS, PRESSURE)


class Derived:
    """What can be derived from the populations of a frame."""

    def __init__(self, scene: Callable[[], Scene]) -> None:
        """`scene` gives the scene at the time of the frame; it is called only when its materials are needed."""
        self._scene = scene
        self._models: dict[str, ConstitutiveModel | None] = {}

    def has(self, population: str, stored: tuple[str, ...], name: str) -> bool:
        """Whether `name` can be derived for a population whose frames hold the fields `stored`."""
        if name not in NAMES or "material" not in stored or name in stored:
            return False
        if name == PRESSURE and STRESS in stored:
            return True
        if VOLUME_RATIO.name not in stored:
            return False
        model = self._model(population)
        return model is not None and all(field.name in stored for field in model.fields if field.name != "dissipation")

    def array(self, population: str, read: Callable[[str], NDArray[Any]], stored: tuple[str, ...], name: str) -> Any:
        """The values of `name`."""
        if name == PRESSURE and STRESS in stored:
            return pressure_of(read(STRESS))
        model = self._model(population)
        assert model is not None
        arrays = {field.name: read(field.name) for field in model.fields if field.name in stored}
        arrays["material"] = read("material")
        arrays.setdefault("dissipation", np.zeros(len(arrays["material"])))
        kirchhoff = np.zeros((len(arrays["material"]), 6))
        model.stress(arrays, kirchhoff)
        weak = read("weak") if "weak" in stored else None
        stress = cauchy_stress(kirchhoff, read(VOLUME_RATIO.name), weak)
        return stress if name == STRESS else pressure_of(stress)

    def _model(self, population: str) -> "ConstitutiveModel | None":
        """The laws of a population; None if they are not known."""
        if population not in self._models:
            self._models[population] = self._find(population)
        return self._models[population]

    def _find(self, population: str) -> "ConstitutiveModel | None":
        # imported where it is needed: most frames are read without a compiler
        from spume.materials.loops import ConstitutiveModel
        from spume.scene.material_scene import MaterialScene
        from spume.scene.surroundings import materials_of

        try:
            scene = self._scene()
            if not isinstance(scene, MaterialScene):
                return None
            return ConstitutiveModel(scene.material_laws, materials_of(scene, population))
        except (SpumeError, LookupError):  # a law whose file must not be executed, or does not exist here
            return None
