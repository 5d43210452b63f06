"""Progress of a run: a bar in a terminal or a notebook, tqdm's where it is installed."""

from __future__ import annotations

import sys
import time

_DELAY = 0.5  # seconds; shorter runs show none


def _is_interactive() -> bool:
    return "ipykernel" in sys.modules or hasattr(sys.stderr, "isatty") and sys.stderr.isatty()


class _Plain:
    """A bar of one line on standard error."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.n, self.total, self.shown = name, 0, total, -1.0

    def refresh(self) -> None:
        now = time.monotonic()
        if now - self.shown < 0.1 and self.n < self.total:
            return
        self.shown = now
        part = self.n / self.total if self.total else 0
        sys.stderr.write(f"\r{self.name} [{'#' * int(30 * part):<30}] {self.n}/{self.total or '?'}")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


class Bar:
    """A callable (done, total), which shows a bar once the run has taken a while."""

    def __init__(self, name: str) -> None:
        self._name, self._began, self._bar = name, time.monotonic(), None

    def __call__(self, done: int, total: int) -> None:
        if total == 1 or time.monotonic() - self._began < _DELAY:
            return
        if self._bar is None:
            self._bar = self._make(total)
        self._bar.n, self._bar.total = done, total
        self._bar.refresh()

    def _make(self, total: int):
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return _Plain(self._name, total)
        return tqdm(desc=self._name, total=total or None, leave=False)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def choose(progress: object, name: str) -> object:
    """What the job calls. progress: None, a bar where somebody sees it; True or False; or a callable (done, total)."""
    if progress is False or progress is None and not _is_interactive():
        return None
    if progress is None or progress is True:
        return Bar(name)
    if not callable(progress):
        raise TypeError(f"progress: {type(progress).__name__} is not a bool or a callable (done, total)")
    return progress
