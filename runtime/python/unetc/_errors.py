"""Everything that can go wrong, as exceptions.

    Error                     all of them
      FileError               the .unet file has mistakes: `diagnostics`, and of the first one file, span, code, note, help
      DoesNotFit              no plan fits the budget: the same, and `plan`, the plan that comes closest
      UsageError              an option or a call that makes no sense
      ToolError               the C compiler is missing or failed
      ArgumentError           an array that a model cannot take; `argument` is its name
      ModelError              the runtime's refusal: a file of weights that does not fit, a device that is too small
      ClosedError             the model was closed
"""

from __future__ import annotations

import dataclasses
import html
from typing import Any, Optional, Sequence, Tuple


@dataclasses.dataclass(frozen=True)
class Span:
    """A place in a .unet file.  Lines and columns count from 1, bytes from 0; the end stands behind the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    byte: int
    end_byte: int
    label: str
    text: str
    primary: bool


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A mistake or a warning of the compiler; `str()` of it quotes the line and puts a caret below."""

    level: str
    code: str
    message: str
    spans: Tuple[Span, ...]
    notes: Tuple[str, ...]
    helps: Tuple[str, ...]
    rendered: str

    @classmethod
    def of(cls, data: Any) -> "Diagnostic":
        """From a line of `unetc --error-format=json`."""
        def texts(level: str) -> Tuple[str, ...]:
            return tuple(child["message"] for child in data["children"] if child["level"] == level)
        return cls(data["level"], (data["code"] or {}).get("code", ""), data["message"],
                   tuple(_span(span) for span in data["spans"]), texts("note"), texts("help"), data["rendered"].rstrip("\n"))

    @property
    def span(self) -> Optional[Span]:
        """The place of the mistake."""
        return next((span for span in self.spans if span.primary), self.spans[0] if self.spans else None)

    def __str__(self) -> str:
        return self.rendered

    def _repr_html_(self) -> str:
        colour = "#b00020" if self.level == "error" else "#8a6d00"
        return "<pre style='border-left:4px solid %s;padding-left:1em'>%s</pre>" % (colour, html.escape(self.rendered))


def _span(data: Any) -> Span:
    lines = data["text"]
    return Span(data["file_name"], data["line_start"], data["column_start"], data["line_end"], data["column_end"],
                data["byte_start"], data["byte_end"], data["label"] or "", lines[0]["text"] if lines else "", data["is_primary"])


class Error(Exception):
    """Whatever unetc refuses.  `diagnostics` has the compiler's; the first gives the attributes below."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    @property
    def _first(self) -> Optional[Diagnostic]:
        return self.diagnostics[0] if self.diagnostics else None

    @property
    def span(self) -> Optional[Span]:
        return self._first.span if self._first else None

    @property
    def file(self) -> Optional[str]:
        return self.span.file if self.span else None

    @property
    def code(self) -> Optional[str]:
        return self._first.code if self._first else None

    @property
    def note(self) -> Optional[str]:
        return "\n".join(self._first.notes) or None if self._first else None

    @property
    def help(self) -> Optional[str]:
        return "\n".join(self._first.helps) or None if self._first else None

    def __str__(self) -> str:
        return "\n\n".join(str(diagnostic) for diagnostic in self.diagnostics) or super().__str__()

    def _repr_html_(self) -> str:
        return "".join(diagnostic._repr_html_() for diagnostic in self.diagnostics) or "<pre>%s</pre>" % html.escape(str(self))


class FileError(Error):
    """The .unet file has mistakes."""


class DoesNotFit(Error):
    """No plan fits the budget.  `plan` is the smallest that was found, where the call asked for a plan."""

    plan: Any = None


class UsageError(Error, ValueError):
    """An option that does not exist, or options that exclude each other."""


class ToolError(Error):
    """The compiler, or the C compiler that it calls, is missing or failed."""


class ArgumentError(Error, ValueError):
    """An array that the model cannot take; `argument` is its name."""

    def __init__(self, argument: str, message: str):
        super().__init__("%s: %s" % (argument, message))
        self.argument = argument


class ModelError(Error):
    """The runtime refuses; `status` is the exit code that a program would have."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


class ClosedError(Error):
    """The model was closed."""
