"""What every method with points needs: points, sources, loads, obstacles, the loop over steps."""
