"""What planned programs become: the files of a project, its manifest, and what it will take."""
