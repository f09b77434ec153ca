"""Requantizations: how int32 sums become int8 or int16."""
