"""From planned programs to firmware: the files of a project, its manifest, and its needs."""
