"""Schedules: which implementation computes which nodes, chosen by cost.

``choose`` finds the best for a goal, ``front`` the Pareto front. ``file`` reads and writes one,
``front_file`` a front.
"""

from microgen.compiler.schedule import file, front_file
from microgen.compiler.schedule.choose import Offer, choose, fastest, offers
from microgen.compiler.schedule.front import Front, FrontPoint, explore
from microgen.compiler.schedule.score import Score
from microgen.compiler.schedule.state import Schedule

__all__ = [
    "Front",
    "FrontPoint",
    "Offer",
    "Schedule",
    "Score",
    "choose",
    "explore",
    "fastest",
    "file",
    "front_file",
    "offers",
]
