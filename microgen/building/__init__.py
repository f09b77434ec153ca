"""Programs of others that microgen runs: which, how they are started and ended, and builds."""
