"""``python -m microgen``."""

import sys

from microgen.cli import main

sys.exit(main())
