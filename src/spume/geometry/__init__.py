"""Shapes as signed distances, their rigid motion, contact with them, and filling them with points.

shapes/     the models a scene is written with, their bounding boxes and volumes
sdf/        the flat program that a shape is compiled into, and its evaluation at a point
motion/     rigid motions and the pose they give at a time
obstacles/  shapes in motion, and contact with them
filling/    points that represent a shape
"""
