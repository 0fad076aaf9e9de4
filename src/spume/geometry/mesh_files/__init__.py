"""Files of triangle meshes: vertices, texture coordinates, materials and textures, as the file has them."""
