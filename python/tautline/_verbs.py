"""The commands of ``taut`` as functions: keyword arguments are its options, results are its JSON documents."""

from __future__ import annotations

import datetime as _datetime
import json as _json
import os as _os
import re as _re
import sys as _sys
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _engine

Progress = Callable[[str, float, float], None]
Paths = Union[str, "_os.PathLike[str]", Sequence[Union[str, "_os.PathLike[str]"]]]

# Options that have no meaning in Python: they choose how a result is printed, or ask a daemon.
_LEFT_OUT = {"help", "output", "quiet", "paths", "details"}
_OF_DAEMONS = {"server", "token_file", "ca_file", "month", "group"}


def paths_of(table: Any, name: str = "table") -> List[str]:
    """Returns paths as texts. TypeError if ``table`` is neither a path nor paths."""
    one = isinstance(table, (str, _os.PathLike))
    try:
        return [_os.fspath(p) for p in ([table] if one else table)]
    except TypeError:
        raise TypeError(
            f"{name} is a {type(table).__name__}: expected an object with __arrow_c_stream__ "
            "(pyarrow, Polars, DuckDB, pandas 2.2 or later), a path, or paths"
        ) from None


def is_table(value: Any) -> bool:
    """Returns true if the value can be read as an Arrow stream."""
    return hasattr(value, "__arrow_c_stream__")


def bar_for(progress: Union[None, bool, Progress]) -> Optional[Progress]:
    """Returns ``progress`` if it is a function; else a progress bar, on a terminal and if tqdm is installed."""
    if progress not in (None, True):
        return progress or None  # type: ignore[return-value]
    if not _sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    bar = tqdm(leave=False, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}")

    def show(text: str, done: float, total: float) -> None:
        bar.set_description(text, refresh=False)
        if total > 0:
            bar.total, bar.n = total, done
        bar.refresh()
        if 0 < total <= done:
            bar.close()

    return show


class Table:
    """A table in memory. Readers of Arrow streams take it as it is: ``pyarrow.table(t)``, ``polars.DataFrame(t)``."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def column_names(self) -> List[str]:
        """Names of the columns, in order."""
        return list(self._table.column_names)

    def to_pyarrow(self) -> Any:
        """Returns a ``pyarrow.Table`` that shares the memory of this table. Requires pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``. Requires pyarrow and pandas."""
        return self.to_pyarrow().to_pandas()

    def __repr__(self) -> str:
        return f"<tautline.Table: {len(self)} rows of {', '.join(self.column_names)}>"


def _leaves(row: Mapping[str, Any], prefix: str = "") -> Iterator[Tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        elif not (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield prefix + key, _json.dumps(value) if isinstance(value, list) else value


def _rows(value: Any, path: Sequence[str], outer: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    """Yields a row per object of the list at ``path``, with the plain members of the objects around it."""
    for item in value:
        if not path:
            yield {**outer, **dict(_leaves(item))}
            continue
        inner = item.get(path[0], [])
        if isinstance(inner, dict):  # objects by name
            inner = [{path[0].rstrip("s"): name, **of_name} for name, of_name in inner.items()]
        own = {key: of_key for key, of_key in item.items() if not isinstance(of_key, (dict, list))}
        yield from _rows(inner, path[1:], {**outer, **own})


def _lists(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        if path and value and all(isinstance(item, dict) for item in value):
            yield path
        for item in value:
            yield from _lists(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}" if path else key)


class Outcome:
    """The result of a command: the document that ``taut COMMAND --output json`` prints.

    docs/reference/formats.md describes the documents, with units: bytes, cores, seconds, shares from 0 to 1.
    """

    def __init__(self, verb: str, text: str, main: str) -> None:
        self._verb = verb
        self._text = text
        self._main = main
        #: The document as dictionaries, lists, numbers and texts.
        self.data: Dict[str, Any] = _json.loads(text)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def json(self) -> str:
        """Returns the document as ``taut`` prints it, to the byte."""
        return self._text

    @property
    def tables(self) -> List[str]:
        """Names for :meth:`table`: the lists of the document, such as "trials" or "resources.predictors"."""
        return list(dict.fromkeys(_lists(self.data)))

    def table(self, name: Optional[str] = None) -> Table:
        """Returns a list of the document as a table with one row per object.

        ``name``: one of :attr:`tables`; None: the main one. Members of objects are columns such as "total.footprint".
        Rows of a list within a list have the columns of the outer row before their own. An absent value is null.
        KeyError for another name.
        """
        name = name or self._main
        first, *rest = name.split(".")
        rows = list(_rows([{first: self.data.get(first, [])}], [first, *rest], {}))
        if not rows and name != self._main and name not in self.tables:
            raise KeyError(f"{self._verb} has no table {name!r}; it has {', '.join(self.tables)}")
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return Table(_engine.table([(key, _column([row.get(key) for row in rows])) for key in columns]))

    def __repr__(self) -> str:
        return f"<tautline.Outcome of {self._verb}: {', '.join(self.data)}>"


def _column(values: List[Any]) -> List[Any]:
    if any(isinstance(v, str) for v in values):
        return [v if v is None or isinstance(v, str) else _json.dumps(v) for v in values]
    return [int(v) if isinstance(v, bool) else v for v in values]


def _text(value: Any) -> str:
    if isinstance(value, _datetime.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=_datetime.timezone.utc)
        return str(int(aware.timestamp()))
    if isinstance(value, _datetime.timedelta):
        return f"{int(value.total_seconds())}s"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return _os.fspath(value) if isinstance(value, _os.PathLike) else str(value)


def _words(option: "Option", value: Any) -> List[str]:
    if value is None or (option.is_flag and not value):
        return []
    if option.is_flag:
        return [f"--{option.name}"]
    if isinstance(value, Mapping):
        values = [f"{key}={_text(item)}" for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        values = list(map(_text, value))
    else:
        values = [_text(value)]
    return [f"--{option.name}={item}" for item in values]


class Option:
    """An option of a command as a keyword argument."""

    def __init__(self, row: Tuple[str, str, str, str, bool, bool]) -> None:
        self.name, self.type, self.help, self.default, self.is_flag, self.is_list = row
        self.keyword = "from_" if self.name == "from" else self.name.replace("-", "_")

    @property
    def value(self) -> Any:
        """The default as a value of Python; None: none, or the help says it."""
        return False if self.is_flag else self.default or None


class Verb:
    """A command of ``taut`` as a function. ``help(tautline.tune)`` and :attr:`options` show its keyword arguments."""

    def __init__(self, name: str, command: str, what: str, main: str, reads: str, flags: Sequence[str] = ()) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "tautline"
        self._command = command
        self._main = main
        self._reads = reads  # "table": usage in the first argument; "usage": only with usage=True, or as usage=
        self._flags = list(flags)
        self._what = what
        self._options: Optional[Dict[str, Option]] = None

    @property
    def options(self) -> Dict[str, Option]:
        """The keyword arguments by name, each with ``help``, ``default``, ``is_flag`` and ``is_list``."""
        if self._options is None:
            found = [Option(row) for row in _engine.command_options(self._command)]
            left_out = _LEFT_OUT.union(self._flags, _OF_DAEMONS if self._command.startswith("get ") else ())
            self._options = {o.keyword: o for o in found if o.keyword not in left_out}
        return self._options

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        lines = [self._what, "", f"Runs ``taut {self._command}``; the result is an :class:`Outcome`.", "", "Args:"]
        for keyword, option in self.options.items():
            default = f" (default: {option.default})" if option.default else ""
            lines.append(f"    {keyword}: {option.help}{default}")
        return "\n".join(lines + ["    progress: None: a tqdm bar on a terminal; False: silent; or a function of text, done, total.", "",
                                  "Raises:", "    TypeError: an unknown keyword; ValueError: an invalid argument; FileNotFoundError,",
                                  "    RuntimeError: a file does not exist, or cannot be read or written; KeyboardInterrupt: Ctrl-C."])

    @property
    def __signature__(self) -> Any:
        import inspect

        kinds = inspect.Parameter
        return inspect.Signature([kinds("paths", kinds.VAR_POSITIONAL),
                                  *(kinds(name, kinds.KEYWORD_ONLY, default=option.value) for name, option in self.options.items()),
                                  kinds("progress", kinds.KEYWORD_ONLY, default=None)], return_annotation=Outcome)

    def __call__(self, *paths: Any, progress: Union[None, bool, Progress] = None, **options: Any) -> Outcome:
        words = self._command.split() + ["--output=json"] + [f"--{flag}" for flag in self._flags]
        given = None
        if len(paths) == 1 and is_table(paths[0]):
            if self._reads != "table" and options.get("usage") is not True:
                raise TypeError(f"{self.__name__}() reads files, not a table" + ("; usage=True reads a table" if "usage" in self.options else ""))
            given, names = paths[0], [_engine.GIVEN_USAGE]
        else:
            names = [name for part in paths for name in paths_of(part)]
        for keyword, value in options.items():
            option = self.options.get(keyword)
            if option is None:
                raise TypeError(f"{self.__name__}() has no argument {keyword!r}; the nearest is {self._nearest(keyword)!r}")
            if is_table(value):
                if keyword != "usage" or given is not None:
                    raise TypeError(f"{keyword} is a table: {self.__name__}() reads no table there")
                given, value = value, _engine.GIVEN_USAGE
            words += _words(option, value)
        text = _engine.run_command(words + ["--", *names] if names else words, given, bar_for(progress))
        return Outcome(self.__name__, text, self._main)

    def _nearest(self, keyword: str) -> str:
        import difflib

        return max(self.options, key=lambda name: difflib.SequenceMatcher(None, keyword, name).ratio())

    def __repr__(self) -> str:
        return f"<function tautline.{self.__name__}(*paths, **options)>"
