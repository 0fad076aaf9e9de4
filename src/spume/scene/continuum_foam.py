"""Scenes of continuum foam: those of the material point method, and what [Yue15] adds."""

from typing import Literal

from pydantic import Field

from spume.scene.common import Count, NotNegative, Table
from spume.scene.mpm import MpmScene


class Tearing(Table):
    """Torn points: they resist compression only. Materials tear that have a tear_threshold."""

    enabled: bool = Field(default=True, strict=True, description="whether material tears")


class Recovery(Table):
    """Torn connections that grow again. Materials recover that have a recovery_time."""

    enabled: bool = Field(default=True, strict=True, description="whether torn material recovers")
    every: Count = Field(
        default=10, description="steps between two applications; each covers all the time since the one before"
    )


class SubgridRemoval(Table):
    """Removal of torn material that is too thin for the grid."""

    enabled: bool = Field(default=True, strict=True, description="whether such points are removed")
    every: Count = Field(
        default=10,
        description="steps between two searches; [Yue15] searches in every one, and finds it some steps sooner",
    )
    threshold: NotNegative = Field(
        default=1e-5, description="a point goes if the covariance of its neighbours is this anisotropic: λmin/λmax [1]"
    )
    smallest: NotNegative = Field(
        default=1e-5, description="a point goes if that covariance has no eigenvalue as large as this [cells²]"
    )


class Resampling(Table):
    """Filling of the voids that open between points where material is stretched, and merging of points too close."""

    enabled: bool = Field(default=True, strict=True, description="whether voids are filled")
    every: Count = Field(default=50, description="steps between two searches for voids")


class ContinuumFoamScene(MpmScene):
    """A scene of continuum foam: Herschel-Bulkley flow that tears, recovers and is resampled."""

    method: Literal["continuum-foam"] = Field(description="name of the simulation method")  # type: ignore[assignment]
    tearing: Tearing = Field(default=Tearing(), description="tearing of material")
    recovery: Recovery = Field(default=Recovery(), description="recovery of torn material")
    subgrid_removal: SubgridRemoval = Field(default=SubgridRemoval(), description="removal of slivers")
    resampling: Resampling = Field(default=Resampling(), description="filling of voids")
