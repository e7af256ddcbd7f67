"""Values as they come: the scale that they are predicted in, and the way back to their units."""
