"""Shapes as signed distances, their rigid motion, contact with them, and their filling with points.

shapes/     shape models of scenes, their bounding boxes and volumes
sdf/        the flat program that a shape is compiled into, and its evaluation at a point
motion/     rigid motions and their poses as functions of time
obstacles/  shapes in motion, and contact with them
filling/    points that represent a shape
"""
