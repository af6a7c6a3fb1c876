"""What judges read and give."""
