"""Output for people: text laid out for a terminal, progress, JUnit files."""
