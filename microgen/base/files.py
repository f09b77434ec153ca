"""Files and trees of files that are written completely or not at all; allowed places of files."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from microgen.base.errors import MicrogenError, ProjectError
from microgen.base.pieces import Content, LargeContent, Whole, beginning, digest

MANIFEST = "microgen.json"
OWN_MAIN = "src/main.c"  # the one file of a project that an application may replace
EXPORTED = "microgen-export.json"  # of an exported component; both have digests of the files
_AGAIN = "generate the project again"
# West's settings, if `west init -l west` made a workspace of the project. They belong to the user.
_WORKSPACE = ".west/config"


@dataclass(frozen=True, slots=True)
class FileTree:
    """Relative POSIX path -> content. Paths are checked: no absolute ones, no ``..``."""

    contents: Mapping[str, Content]

    def __post_init__(self) -> None:
        for name in self.contents:
            # A generator or a model could otherwise write anywhere on this machine.
            if not _parts(name):
                raise ProjectError(f"refusing to generate a file at {name!r}")

    @property
    def files(self) -> Mapping[str, bytes]:
        """Path -> content. Large contents are made when they are looked up."""
        return Whole(self.contents)

    def merged(self, other: FileTree) -> FileTree:
        """Both trees together. Raises ProjectError if a path is in both."""
        # A file that silently replaces another would be lost without any message.
        clash = sorted(self.contents.keys() & other.contents.keys())
        if clash:
            raise ProjectError(f"two parts of the project both generate {clash[0]}")
        return FileTree({**self.contents, **other.contents})

    def digests(self) -> dict[str, str]:
        """Path -> SHA-256 of the content, in sorted order."""
        return {name: digest(self.contents[name]) for name in sorted(self.contents)}

    def beginnings(self) -> list[bytes]:
        """All of each small file, and the first piece of each large one. All ``#include`` lines are
        in the first piece."""
        return [beginning(content) for content in self.contents.values()]

    def write_to(self, root: Path, *, force: bool = False, record: str = MANIFEST) -> None:
        """Write the tree as ``root``, atomically: after any failure ``root`` is unchanged. The file
        ``record`` lists the files that belong to the project.

        If ``root`` is a project that is also a west workspace, it remains a workspace.
        Raises ProjectError if ``root`` has anything that microgen did not generate (see
        ``check_writable``), or if the file system refuses.
        """
        # Checked first, so that nothing is written if the answer is no.
        check_writable(root, force=force, record=record)
        root = Path(os.path.abspath(root))
        # In the same folder, because a rename is atomic only inside one file system.
        staging = root.parent / f".{root.name}.{secrets.token_hex(8)}"
        try:  # a signal may come right after the folder has been made
            _make_staging(staging, root)
            self._fill(staging / "new")
            # West's settings are no file of the tree, so the new project would otherwise lose them.
            _keep_workspace(root, staging / "new")
            _swap(staging, root)
        except OSError as error:
            raise ProjectError(
                f"cannot write the project: {error.strerror}",
                where=str(root),
                hint="choose another -o",
            ) from error
        finally:
            # The project that was replaced is also in there.
            shutil.rmtree(staging, ignore_errors=True)

    def _fill(self, root: Path) -> None:
        root.mkdir()
        for name in sorted(self.contents):
            path, content = root / name, self.contents[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(content if isinstance(content, LargeContent) else (content,))


def _make_staging(staging: Path, root: Path) -> None:
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        # Only the owner may see the files before they are in their place.
        staging.mkdir(mode=0o700)
    except OSError as error:
        is_file = isinstance(error, FileExistsError)
        what = f"{root.parent} is not a folder" if is_file else error.strerror
        raise ProjectError(
            f"cannot write there: {what}", where=str(root), hint="choose another -o"
        ) from error


@functools.lru_cache(maxsize=4096)  # trees that are merged have the same names
def _parts(name: str) -> tuple[str, ...]:
    """The folders and the file of a relative path; nothing if it leads out of its root."""
    path = PurePosixPath(name)
    return () if path.is_absolute() or ".." in path.parts else path.parts


MOST_BYTES = 2**31 - 1  # of a project's file; models have no more


def inside(project: Path, name: str) -> Path:
    """The path of a project's file that a manifest names.

    Raises ProjectError unless it is a regular file inside the project, of at most ``MOST_BYTES``
    bytes.
    """
    # A manifest from elsewhere may name a device or a file with terabytes of holes, or lead out of
    # the project with `..` or a link.
    path = project / name
    if not _parts(name) or not _is_in(project, name):
        raise ProjectError("is outside the project", where=name, hint=_AGAIN)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        # ``from None``: the message has everything that the exception says.
        raise ProjectError("is missing", where=name, hint=_AGAIN) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ProjectError(f"cannot be read: {why}", where=name, hint=_AGAIN) from None
    if not stat.S_ISREG(status.st_mode):
        raise ProjectError("is not a regular file", where=name, hint=_AGAIN)
    if status.st_size > MOST_BYTES:
        found = f"has {status.st_size} bytes; a project's file has at most {MOST_BYTES}"
        raise ProjectError(found, where=name, hint=_AGAIN)
    return path


def _is_in(project: Path, name: str) -> bool:
    """Whether a relative path leads to a place in the project."""
    # A zero byte, a lone surrogate or a link to itself leads nowhere.
    # ``resolve`` follows every link and is slow, so places without links are accepted before.
    try:
        below = accumulate(_parts(name), os.path.join, initial=str(project))
        if not any(stat.S_ISLNK(os.lstat(place).st_mode) for place in islice(below, 1, None)):
            return True  # as nearly always, and in a fraction of the time
    except (ValueError, OSError):
        pass
    try:
        return (project / name).resolve().is_relative_to(project.resolve())
    except (ValueError, RuntimeError):
        return False


def _keep_workspace(old: Path, new: Path) -> None:
    """Copy west's settings from the project that ``new`` replaces."""
    # Only of a project: the settings of any other folder are not ours to copy.
    if (old / MANIFEST).is_file() and (old / _WORKSPACE).is_file():
        (new / _WORKSPACE).parent.mkdir()
        shutil.copyfile(old / _WORKSPACE, new / _WORKSPACE)


def _swap(staging: Path, root: Path) -> None:
    """Put ``staging/new`` in ``root``'s place; restore the old one if that fails, or if a signal
    comes in between."""
    old = staging / "old"
    try:
        # A folder that has files cannot be replaced by a rename, so the old one is moved first.
        if root.exists():
            root.rename(old)
        (staging / "new").rename(root)
    except BaseException:
        # A signal raises KeyboardInterrupt, which is not an Exception, between the two renames.
        if old.exists() and not root.exists():
            old.rename(root)
        raise


@contextlib.contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write. After the block it is at ``path``; if anything fails, ``path`` is unchanged.
    Raises OSError.

    If ``path`` is a link, its target is replaced; a device or a pipe is written into.
    """
    try:
        target = path.resolve()
    except RuntimeError as error:  # links that lead to themselves
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error
    # A device or a pipe cannot be replaced, and has no content to keep.
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    # Next to the target, because a replacement is atomic only inside one file system.
    handle, aside = tempfile.mkstemp(prefix=".microgen-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)  # only now some file systems notice that there is no space
        # mkstemp makes files that only the owner can read.
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # a signal may come when all is done
            os.unlink(aside)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, with the guarantees of ``whole``."""
    with whole(path) as file:
        file.write(data)


# With these characters in a path, CMake and Ninja fail with unclear messages or build wrong files.
# Python shows bytes that are not UTF-8 as surrogates.
_UNFIT = re.compile(r'[\x00-\x1f\x7f"\\;|>\ud800-\udfff]')


def check_buildable(root: Path) -> None:
    """Raise ProjectError if a project's absolute path has a character with which builds fail."""
    found = _UNFIT.search(str(root))
    if found:
        raise ProjectError(
            f"no project can be built in a path that has the character {found[0]!a}",
            where=str(root),
            hint="choose another directory",
        )


def check_writable(root: Path, *, force: bool, record: str = MANIFEST) -> None:
    """Raise ProjectError unless ``root`` is absent, empty, or entirely ours.

    It is ours if every file is in the digests of ``record`` and is unchanged. What CMake and west
    add is ours, too: build folders, west's settings, and the bytecode of west's commands. ``force``
    allows any directory except the current one and its parents.
    """
    root = Path(os.path.abspath(root))
    check_buildable(root)
    # ``lexists``, because a link that leads nowhere is something, too.
    if not os.path.lexists(root):
        return
    if not root.is_dir() or root.is_symlink():
        raise ProjectError("is not a directory", where=str(root), hint="choose another -o")
    # The shell would be in a folder that does not exist any more.
    if root == Path.cwd() or root in Path.cwd().parents:
        raise ProjectError(
            "is the current directory or contains it", where=str(root), hint="choose another -o"
        )
    if force or not any(root.iterdir()):
        return
    foreign = _first_foreign(root, record)
    if foreign:
        raise ProjectError(
            f"contains {foreign}, which microgen did not generate",
            where=str(root),
            hint="choose another -o, or pass --force to replace the directory",
        )


def _has_digest(path: Path, digest: str) -> bool:
    # A file that is larger is not ours, and hashing it would take long.
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _first_foreign(root: Path, record: str) -> str:
    """The first file that microgen did not generate, or that was changed; empty if none."""
    try:
        # The record cannot have its own digest.
        known = {record: None, **json.loads((root / record).read_bytes())["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        known = {}
    # CMake's cache marks a build folder, because builds may have any name.
    builds = {path.parent for path in root.glob("*/CMakeCache.txt")}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_dir() or not builds.isdisjoint(path.parents):
            continue
        # Only in a project of ours: in another folder these files are foreign.
        if known and _is_of_west(name):
            continue
        if name not in known:
            return name
        if known[name] and not _has_digest(path, known[name]):
            return f"{name} (changed since it was generated)"
    return ""


def _is_of_west(name: str) -> bool:
    return name == _WORKSPACE or name.startswith("west/__pycache__/")


def content(path: Path, kind: str, most: int) -> bytes:
    """The bytes of a file that the user names; ``kind`` says what it should be, such as "a model
    file", which has at most ``most`` bytes. Raises MicrogenError unless it is a regular file that
    can be read and is not larger."""
    # Only a regular file is opened, because reading from a pipe or a device might never end.
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise MicrogenError("is not a regular file", where=str(path), hint=f"give {kind}")
        if status.st_size > most:
            raise MicrogenError(
                f"has {status.st_size} bytes; {kind} has at most {most}", where=str(path)
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise MicrogenError("no such file", where=str(path), hint="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise MicrogenError(
            f"cannot be read: {reason}", where=str(path), hint="check the path and its permissions"
        ) from None
