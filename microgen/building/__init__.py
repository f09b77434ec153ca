"""Other people's programs that microgen runs: the list, how to start and end them, and builds."""
