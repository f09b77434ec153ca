"""``make bench`` and ``make bench-check``: what networks take on cores, with each ``--optimize``.

``matrix.yml`` says what is measured, ``peers.yml`` what others take and where the floors are.
``docs/benchmarks.json`` has the committed results, from which the page and its pictures are made.
"""
