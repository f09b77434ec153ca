"""From a graph to primitive functions: passes, partition, schedule, lowering, code generators."""
