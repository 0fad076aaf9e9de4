"""Spray, foam and bubbles as passive points from the velocities of water, made from the frames of a run. [Ihmsen12]"""
