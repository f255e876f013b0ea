#!/usr/bin/env python3
"""Holds every #include under src/ against src/LAYERS: a room includes only the rooms on its line."""
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


def main():
    found = list(violations(*read_layers()))
    for line in found:
        print(line)
    if found:
        sys.exit(f"{len(found)} includes against src/LAYERS")
    print("layers: every include points down")


if __name__ == "__main__":
    main()
