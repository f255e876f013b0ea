#!/usr/bin/env python3
"""Writes the types of the built package for editors and type checkers: python/stubs.py BUILD_TREE/python.

_engine.pyi is by nanobind's generator, commands.pyi has each command as a function with its keyword arguments.
"""
import pathlib
import subprocess
import sys

HEAD = '''"""The commands of ``taut`` as functions. Written by python/stubs.py."""

import datetime
import os
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from ._verbs import Outcome

_Value = Union[str, int, float, datetime.timedelta, datetime.datetime, "os.PathLike[str]"]
_Values = Union[_Value, Iterable[_Value], Mapping[str, Any]]
'''


def functions(module):
    """Returns the source of commands.pyi."""
    out = [HEAD]
    for verb in (v for v in vars(module).values() if type(v).__name__ == "Verb"):
        out.append(f"\ndef {verb.__name__}(\n    *paths: Any,\n")
        for keyword, option in verb.options.items():
            kind = "bool" if option.is_flag else "Any" if keyword == "usage" else "Optional[_Values]" if option.is_list else "Optional[_Value]"
            out.append(f"    {keyword}: {kind} = {option.value!r},\n")
        out.append("    progress: Union[None, bool, Callable[[str, float, float], None]] = None,\n) -> Outcome:\n")
        doc = verb.__doc__.replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
        out.append(f'    """{doc}\n    """\n')
    return "".join(out)


def main():
    built = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(built))
    sys.dont_write_bytecode = True
    from tautline import commands  # pylint: disable=import-outside-toplevel

    (built / "tautline/commands.pyi").write_text(functions(commands), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tautline._engine", "-i", built, "-O", built / "tautline"], check=True)


if __name__ == "__main__":
    main()
