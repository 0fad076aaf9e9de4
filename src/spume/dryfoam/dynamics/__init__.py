"""What changes a dry foam in time: diffusion of gas, imposed deformation."""
