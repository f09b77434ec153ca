"""The check that a firmware follows from its model: generated and built again, it is equal."""

from __future__ import annotations

from microgen.verifier.subject import Finding, Subject, not_applicable


def reproduce(subject: Subject) -> Finding:
    """With ``--reproduce``: the project's files are those that its models give when they are
    generated again, and the ELF equals the one that these files give when built again.

    ``n/a`` if nobody asked for it, or if it cannot be done here; never ok without a comparison.

    Reads: the shipped models; the project's files; the ELF; CMake's cache next to it.
    """
    asked = subject.reproduction
    if asked is None:
        return not_applicable("not asked for: give --reproduce")
    # The compiler and the exporters. No other check needs them, and importing them takes as long
    # as importing all other checks.
    from microgen.verifier.again import again

    return again.compared(subject, asked)
