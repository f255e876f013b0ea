#!/usr/bin/env python3
"""Fails if a source, function, class or list of parameters of src/ is above its bound and above the size in tools/sizes.txt.

    tools/check_sizes.py          # prints what has grown, and what has shrunk and can be removed from the list
    tools/check_sizes.py --write  # writes the list anew: for a change that makes something smaller

Bounds: 500 lines per source, 60 lines per function, 20 public methods per class, 6 parameters per function. Items above their
bound when the check was introduced are in tools/sizes.txt; they may only shrink. Tests and tables (files *_table.cc, and
functions of one initialiser) have no bound of lines.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "sizes.txt"
BOUNDS = {"lines": 500, "function": 60, "methods": 20, "parameters": 6}
CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: :[^;{]*)? ?\{$|^(?:class|struct) (\w+)(?: final)? :$")
NAME = re.compile(r"([\w:~]+|operator[^\s(]+)\($")


def plain(text):
    """Returns the text without comments, strings and characters, with the same lines."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
    return pattern.sub(lambda m: ("" if m[0].startswith(("//", "/*")) else '""') + "\n" * m[0].count("\n"), text)


def heads(lines):
    """Yields (first line, head, line of the opening brace) of each definition at the left margin that is a function."""
    i = 0
    while i < len(lines):
        if not lines[i][:1].strip() or lines[i][0] in "}#":
            i += 1
            continue
        first, head = i, lines[i]
        while i + 1 < len(lines) and not re.search(r"[;{]\s*$|\}\s*$", head) and lines[i + 1].strip():
            i += 1
            head += " " + lines[i].strip()
        if head.endswith("{") and "(" in head and not re.match(r"(?:namespace|class|struct|enum|union|extern)\b", head) and " = {" not in head:
            yield first, head, i
        i += 1


def parameters(head):
    """Returns (name, number of parameters) of a function's head."""
    depth, begin = 0, None
    for at, c in enumerate(head):
        if c == "(" and depth == 0 and begin is None and NAME.search(head[:at + 1]):
            begin = at
        depth += c in "(<[{" and not head[at:at + 2] in ("<=", "<<")
        depth -= c in ")]}" or (c == ">" and head[at - 1] != "-")
        if begin is not None and c == ")" and depth <= 0:
            inner = head[begin + 1:at]
            break
    else:
        return None
    name = NAME.search(head[:begin + 1])[1]
    if not inner.strip():
        return name, 0
    count, depth = 1, 0
    for c in inner:
        depth += c in "(<[{"
        depth -= c in ")>]}"
        count += c == "," and depth == 0
    return name, count


def functions(lines):
    """Yields (name, lines, parameters) of each function that is defined at the left margin."""
    for first, head, brace in heads(lines):
        end = next((k for k in range(brace + 1, len(lines)) if lines[k].startswith("}")), brace)
        if found := parameters(head):
            yield found[0], end - first + 1, found[1]


def classes(lines):
    """Yields (name, public methods) of each class at the left margin."""
    i = 0
    while i < len(lines):
        match = CLASS.match(lines[i])
        if not match:
            i += 1
            continue
        public, methods, depth = lines[i].startswith("struct"), 0, 0
        k = i + 1
        while k < len(lines) and not lines[k].startswith("}"):
            line = lines[k]
            if access := re.match(r" (public|private|protected):", line):
                public = access[1] == "public"
            elif public and re.match(r"  [\w\[~]", line) and depth == 0 and "(" in line and not re.match(r"  (?:using|friend|static_assert|struct|class|enum)\b", line):
                before = line[:line.index("(")]
                methods += " = " not in before and "std::function" not in before and not re.match(r"  (?:explicit )?~?" + (match[1] or match[2]) + r"\(", line)
            depth += line.count("{") - line.count("}")
            k += 1
        yield match[1] or match[2], methods
        i = k


def measured():
    """Returns {(kind, place): size} of everything above its bound."""
    out = {}

    def note(kind, place, size):
        if size > BOUNDS[kind]:
            out[kind, place] = max(size, out.get((kind, place), 0))

    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cc") or path.stem.endswith(("_test", "_bench", "_fixture")):
            continue
        name = path.relative_to(ROOT / "src").as_posix()
        lines = plain(path.read_text()).split("\n")
        if not path.stem.endswith("_table"):
            note("lines", name, len(lines) - 1)
        for function, length, count in functions(lines):
            note("function", f"{name} {function}", length)
            note("parameters", f"{name} {function}", count)
        for cls, methods in classes(lines):
            note("methods", f"{name} {cls}", methods)
    return out


def listed():
    out = {}
    for line in LIST.read_text().split("\n"):
        if line and not line.startswith("#"):
            kind, size, place = line.split(" ", 2)
            out[kind, place] = int(size)
    return out


def main():
    now = measured()
    if sys.argv[1:] == ["--write"]:
        rows = sorted(now.items(), key=lambda row: (list(BOUNDS).index(row[0][0]), -row[1], row[0][1]))
        LIST.write_text("# What is above its bound (tools/check_sizes.py): it may shrink, and not grow. KIND SIZE PLACE\n"
                        + "".join(f"{kind} {size} {place}\n" for (kind, place), size in rows))
    known = listed()
    wrong = [f"{kind} {place}: {size}, more than {known.get((kind, place), BOUNDS[kind])}"
             for (kind, place), size in sorted(now.items()) if size > known.get((kind, place), BOUNDS[kind])]
    for line in wrong:
        print(line)
    smaller = sum(now.get(key, 0) < size for key, size in known.items())
    counts = ", ".join(f"{sum(key[0] == kind for key in now)} of {kind} above {bound}" for kind, bound in BOUNDS.items())
    print(f"sizes: {counts}" + (f"; {smaller} are smaller than tools/sizes.txt says (--write)" if smaller else ""))
    if wrong:
        sys.exit("a source, function or class has grown above its bound: make it smaller, or part it")


if __name__ == "__main__":
    main()
