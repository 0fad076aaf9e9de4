"""Many runs of one scene: sweeps over parameters, and calibration of parameters to measurements."""
