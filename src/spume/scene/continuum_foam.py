"""Scenes of continuum foam: those of the material point method with the additions of [Yue15]."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from spume.materials.law import Law
from spume.scene.common import Count, NotNegative
from spume.scene.mpm import MpmScene
from spume.scene.problems import Problem
from spume.scene.stretching import Resampling, coverage_problems
from spume.tables import Table


class Tearing(Table):
    """Torn points, which resist compression only. Materials with a tear_threshold can tear."""

    enabled: bool = Field(default=True, strict=True, description="whether material tears")
    pieces: bool = Field(
        default=True,
        strict=True,
        description="whether pieces that have come apart move with velocity fields of their own until they touch; "
        "explicit steps only",
    )


class Recovery(Table):
    """Healing of torn material. Materials with a recovery_time recover."""

    enabled: bool = Field(default=True, strict=True, description="whether torn material recovers")
    every: Count = Field(
        default=10,
        description="steps between two applications; each covers the time since the previous one; implicit "
        "steps apply it after the time of as many explicit steps",
    )


class SubgridRemoval(Table):
    """Removal of torn material that is too thin for the grid."""

    enabled: bool = Field(default=True, strict=True, description="whether such points are removed")
    every: Count = Field(
        default=10,
        description="steps between two searches; [Yue15] searches in every one, and finds it some steps sooner; "
        "implicit steps search after the time of as many explicit steps",
    )
    threshold: NotNegative = Field(
        default=1e-5, description="removed if the covariance of its neighbours is this anisotropic: λmin/λmax [1]"
    )
    smallest: NotNegative = Field(
        default=1e-5, description="removed if all eigenvalues of that covariance are below this [cells²]"
    )


class ContinuumFoamScene(MpmScene):
    """A scene of continuum foam: Herschel-Bulkley flow that tears, recovers and is resampled."""

    # a literal type cannot be narrowed to another: this scene is an MpmScene in everything but its method
    method: Literal["continuum-foam"] = Field(description="name of the simulation method")  # type: ignore[assignment]
    tearing: Tearing = Field(default=Tearing(), description="tearing of material")  # type: ignore[assignment]
    recovery: Recovery = Field(default=Recovery(), description="recovery of torn material")
    subgrid_removal: SubgridRemoval = Field(default=SubgridRemoval(), description="removal of slivers")
    resampling: Resampling = Field(default=Resampling(), description="filling of voids")

    def unused_parameters(self, law: Law) -> tuple[str, ...]:
        """None: this method uses the tearing and recovery parameters of laws."""
        return ()

    def notes(self) -> list[str]:
        """Keys without effect, and meshes that cannot follow their bodies."""
        return [*super().notes(), *self._tearing_meshes()]

    def _tearing_meshes(self) -> Iterator[str]:
        materials = {material.name: material for material in self.materials}
        for k, body in enumerate(self.body):
            material = materials[body.material]
            trait = material.law.traits.tearing
            tears = trait is not None and trait.threshold_of(material.parameters) is not None
            if body.surface == "embedded" and self.tearing.enabled and tears:
                yield (
                    f"body.{k}.surface is 'embedded', but its material '{body.material}' can tear: the mesh keeps its "
                    "triangles and stretches across the gap; 'reconstructed' follows tears"
                )

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole."""
        coverage = coverage_problems(self.resampling, self.dimension)
        return [*super().problems(), *self._integrator_problems(), *coverage]

    def _integrator_problems(self) -> Iterator[Problem]:
        if self.time.integrator == "semi-implicit":
            yield Problem("time.integrator", "is 'semi-implicit': continuum foam has 'explicit' and 'implicit' steps")
