"""Schedules: which implementation computes which nodes, chosen by cost.

``choose`` finds the best for a goal, ``front`` all that are best at something, and ``file`` reads
and writes them.
"""

from microgen.schedule import file
from microgen.schedule.choose import choose
from microgen.schedule.front import Found, Front, explore
from microgen.schedule.types import Ram, Schedule, Score

__all__ = ["Found", "Front", "Ram", "Schedule", "Score", "choose", "explore", "file"]
