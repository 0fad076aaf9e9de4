"""Evolution of a dry foam: diffusion of gas, imposed deformation."""
