#!/usr/bin/env python3
"""Compares every #include under src/ with src/LAYERS: a room includes only the rooms on its line. And no two headers
define types of one name: linked together they would be one type (ODR), which no compiler reports."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
TESTING = "testing"  # no source of a program includes it; whatever a test includes may
INCLUDE = re.compile(r'^\s*#include "([^"/]+)/[^"]+"')


def read_layers():
    """room -> rooms it may include, and room -> those and what its tests may; all stand above it: no cycle."""
    allowed, by_tests = {}, {}
    for number, line in enumerate((SRC / "LAYERS").read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        room, _, names = line.partition(":")
        names, _, more = names.partition("|")
        below = set(names.split())
        tests = below | set(more.split())
        for name in sorted(tests - allowed.keys()):
            sys.exit(f"src/LAYERS:{number}: {room} names {name}, which does not stand above it")
        allowed[room.strip()] = below
        by_tests[room.strip()] = tests
    return allowed, by_tests


def is_of_tests(path):
    return path.stem.endswith(("_test", "_bench", "_fixture"))


def violations(allowed, by_tests):
    rooms = {p.name for p in SRC.iterdir() if p.is_dir()}
    for room in sorted(rooms - allowed.keys()):
        yield f"src/{room}: a room that src/LAYERS does not list"
    for room in sorted(allowed.keys() - rooms):
        yield f"src/LAYERS: {room} does not exist"
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        room = path.relative_to(SRC).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match[1] == room or match[1] not in rooms:
                continue
            if match[1] == TESTING and (path.suffix == ".h" or path.stem.endswith(("_test", "_bench"))):
                continue
            of = by_tests if is_of_tests(path) else allowed
            if match[1] not in of.get(room, set()):
                yield f"{path.relative_to(ROOT)}:{number}: {room} may not include {match[1]}"


TYPE = re.compile(r"^(?:template[^\n]*\n)?(?:struct|class|enum class|union)\s+(\w+)\s*(?:final\s*)?(?::[^;{]*)?\{", re.M)


def shared_names():
    """Types at the left margin: those in classes and functions are indented."""
    first = {}
    for path in sorted(SRC.rglob("*.h")):
        for name in TYPE.findall(path.read_text()):
            where = first.setdefault(name, path)
            if where != path:
                yield f"{path.relative_to(ROOT)}: {name} is also a type of {where.relative_to(ROOT)}: rename one of them"


def main():
    found = list(violations(*read_layers())) + list(shared_names())
    for line in found:
        print(line)
    if found:
        sys.exit(f"{len(found)} violations")
    print("layers: every include points down, and every type has a name of its own")


if __name__ == "__main__":
    main()
