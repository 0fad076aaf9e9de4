"""Virtual rheometer, which deforms one point with the functions of its law, and fits of measured curves.

curve = flow_curve(choose_material("shaving cream"), np.logspace(-2, 2, 9))   # curve.shear_stress [Pa]
fit = fit_flow_curve(read_flow_curve(Path("measured.csv")))                   # fit.estimates
"""

from typing import TYPE_CHECKING

from spume.lazy import lazy_names

if TYPE_CHECKING:
    from spume.rheology.choosing import choose_material
    from spume.rheology.fit import Fit, fit_flow_curve
    from spume.rheology.fit_viscoelastic import ViscoelasticFit, fit_viscoelastic
    from spume.rheology.measured import FlowCurve, Measured, read_flow_curve, read_measured
    from spume.rheology.rheometer import Curve, Measurement, creep, flow_curve, frequency_sweep, start_up, step_strain
    from spume.rheology.soil import shear_box, triaxial

_HOMES = {
    "choose_material": "spume.rheology.choosing",
    **dict.fromkeys(("Fit", "fit_flow_curve"), "spume.rheology.fit"),
    **dict.fromkeys(("ViscoelasticFit", "fit_viscoelastic"), "spume.rheology.fit_viscoelastic"),
    **dict.fromkeys(("FlowCurve", "Measured", "read_flow_curve", "read_measured"), "spume.rheology.measured"),
    **dict.fromkeys(("Curve", "Measurement", "creep", "flow_curve"), "spume.rheology.rheometer"),
    **dict.fromkeys(("frequency_sweep", "start_up", "step_strain"), "spume.rheology.rheometer"),
    **dict.fromkeys(("shear_box", "triaxial"), "spume.rheology.soil"),
}

__all__ = [
    "Curve",
    "Fit",
    "FlowCurve",
    "Measured",
    "Measurement",
    "ViscoelasticFit",
    "choose_material",
    "creep",
    "fit_flow_curve",
    "fit_viscoelastic",
    "flow_curve",
    "frequency_sweep",
    "read_flow_curve",
    "read_measured",
    "shear_box",
    "start_up",
    "step_strain",
    "triaxial",
]
__getattr__ = lazy_names(__name__, _HOMES)
