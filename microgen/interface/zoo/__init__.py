"""Many models on many boards: each pair through generate, build, verify and run --compare."""
