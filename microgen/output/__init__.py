"""What people see: text laid out for a terminal, progress, JUnit files."""
