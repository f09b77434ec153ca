"""Follows the AOT runner's instructions, and compares its calls with the plan."""
