"""CPUs and boards, as data."""
