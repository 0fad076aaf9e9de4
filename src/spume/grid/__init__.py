"""The sparse grid: blocks, cells, nodes, transfers between points and nodes, contacts of nodes."""
