#!/usr/bin/env python3
"""Compares src/FORMATS, the list of stored formats, with the sources and the table of docs/reference/storage.md.

    tools/check_formats.py          # fails where a version, a test or the table differs, or a version is in no line
    tools/check_formats.py --write  # writes the table of docs/reference/storage.md

A line names the constant of the newest version and, for each older version that is read, a test that opens a fixture of
it. Versions that no line names are refused by the program. A constant `k...Version = N` of a source of common, brain,
node or server needs a line, unless the line of another constant of that file has a higher version.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
LIST = SRC / "FORMATS"
DOCUMENT = ROOT / "docs" / "reference" / "storage.md"
MARKS = ("<!-- versions: written by tools/check_formats.py --write -->\n", "<!-- end of versions -->\n")
LINE = re.compile(r'(?P<name>[^|]+?) \| (?P<file>\S+) (?P<constant>k\w+) = (?P<version>"TAUT\w+(?P<digit>\d)"|\w+) \|(?P<older>.*)')
VERSION = re.compile(r"\b(k\w*Version) =\s+(\d+)\b")
TEST = re.compile(r"(?:TEST(?:_F|_P)?|RC_GTEST(?:_FIXTURE)?_PROP)\(\s*(\w+),\s*(\w+)")


def formats():
    """Returns (name, file, constant, version as written, {older version: test}) of each line, and the errors of the list."""
    rows, bad = [], []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if not match:
            bad.append(f"src/FORMATS:{number}: expected FORMAT | FILE CONSTANT = VERSION | OLDER VERSION: TEST; ...")
            continue
        older = {}
        for part in filter(None, (p.strip() for p in match["older"].split(";"))):
            versions, test = part.split(": ")
            first, _, last = versions.partition("-")
            older.update({v: test for v in range(int(first), int(last or first) + 1)})
        newest = int(match["digit"] or (match["version"] if match["version"].isdigit() else 1))
        oldest = min(older, default=newest)
        bad += [f"src/FORMATS:{number}: {match['name']}: no test opens version {v}"
                for v in range(oldest, newest) if v not in older]
        rows.append((match["name"], match["file"], match["constant"], match["version"], newest, oldest, older))
    return rows, bad


def against_sources(rows):
    """Returns the differences between the list and the sources."""
    bad = []
    tests = {f"{suite}.{name}" for p in SRC.rglob("*_test.cc") for suite, name in TEST.findall(p.read_text())}
    highest = {}
    for name, file, constant, version, newest, _, older in rows:
        text = (SRC / file).read_text() if (SRC / file).exists() else ""
        if not re.search(rf"\b{constant} =\s+{re.escape(version)}[,;]", text):
            bad.append(f"src/FORMATS: {name}: src/{file} has no {constant} = {version}")
        bad += [f"src/FORMATS: {name}: there is no test {t}" for t in sorted(set(older.values()) - tests)]
        highest[file] = max(highest.get(file, 0), newest)
    for group in ("common", "brain", "node", "server"):
        for path in sorted((SRC / group).rglob("*.*")):
            file = path.relative_to(SRC).as_posix()
            if path.suffix not in (".cc", ".h") or path.stem.endswith("_test"):
                continue
            bad += [f"src/{file}: {constant} = {version} has no line in src/FORMATS"
                    for constant, version in VERSION.findall(path.read_text()) if int(version) > highest.get(file, 0)]
    return bad


def table(rows):
    out = ["| Format | Version | Oldest that is read | Source |", "|---|---|---|---|"]
    out += [f"| {name} | {newest} | {oldest} | `src/{file}` |" for name, file, _, _, newest, oldest, _ in rows]
    return "\n".join(out) + "\n"


def main():
    rows, bad = formats()
    bad += against_sources(rows)
    text = DOCUMENT.read_text()
    begin, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
    wanted = text[:begin] + table(rows) + text[end:]
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(wanted)
    elif text != wanted:
        bad.append("docs/reference/storage.md: the table of versions is not that of src/FORMATS; run tools/check_formats.py --write")
    for line in bad:
        print(line)
    if not bad:
        print(f"formats: {len(rows)}, each of the version of its source, each older version with a test")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
