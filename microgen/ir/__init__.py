"""The typed graph that every frontend produces and every pass rewrites."""
