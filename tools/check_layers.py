#!/usr/bin/env python3
"""Compares the #includes under src/ with src/LAYERS, and the picture of docs/develop/architecture.md with both.

    tools/check_layers.py          # fails on a missing, needless or upward arrow, a wrong namespace, a shared type name
    tools/check_layers.py --write  # writes the arrows that the sources need into src/LAYERS, and the picture

A room includes only the rooms that its line names, and its line names only rooms that it includes. The rooms of a line
stand above it, so no cycle is possible and a group includes only groups above it. Every file opens the namespace of its
group. No two headers define types of one name.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
LAYERS = SRC / "LAYERS"
PICTURE = ROOT / "docs" / "develop" / "architecture.md"
MARKS = ("<!-- rooms: written by tools/check_layers.py --write -->\n", "<!-- end of rooms -->\n")
LINE = re.compile(r"(?P<name>\w+)(?P<star>\*?):(?P<uses>[^|#]*)(?:\|(?P<tests>[^#]*))?(?P<comment>#.*)?$")
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.M)
NAMESPACE = re.compile(r"^namespace (taut[\w:]*) \{", re.M)
TYPE = re.compile(r"^(?:template[^\n]*\n)?(?:struct|class|enum class|union)\s+(\w+)\s*(?:final\s*)?(?::[^;{]*)?\{", re.M)
WIDTH = 120


class Room:
    def __init__(self, group, match, number):
        self.group, self.name, self.number = group, match["name"], number
        self.star, self.comment = match["star"], match["comment"] or ""
        self.uses, self.tests = match["uses"].split(), (match["tests"] or "").split()

    def line(self, uses, tests):
        text = f"{self.name}{self.star}:" + "".join(f" {u}" for u in uses)
        text += " |" + "".join(f" {t}" for t in tests) if tests else ""
        return f"{text}  {self.comment}" if self.comment else text


def read_layers():
    """Returns the rooms by name, in the order of the file."""
    rooms, group = {}, None
    for number, line in enumerate(LAYERS.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if section := re.fullmatch(r"\[(\w+)\]", line):
            group = section[1]
            continue
        match = LINE.match(line)
        if not match or group is None or match["name"] in rooms:
            sys.exit(f"src/LAYERS:{number}: expected [GROUP] or a new ROOM: ROOM... | ROOM..., not {line!r}")
        rooms[match["name"]] = Room(group, match, number)
    return rooms


def is_of_tests(path, text):
    return path.stem.endswith(("_test", "_bench", "_fixture")) or (path.suffix == ".h" and '"common/testing/' in text)


def arrows(rooms):
    """Returns (room, production?) -> rooms that its files include -> the first such line; and the errors of files."""
    found, wrong = collections.defaultdict(dict), []
    for path in sorted(SRC.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        where, text = path.relative_to(SRC), path.read_text()
        room = rooms.get(where.parts[1]) if len(where.parts) > 2 else None
        if room is None or room.group != where.parts[0]:
            wrong.append(f"src/{where}: no room of src/LAYERS")
            continue
        own = "taut" if room.group == "common" else f"taut::{room.group}"
        opened = set(NAMESPACE.findall(text)) - {own}
        for namespace in sorted(n for n in opened if not n.startswith(own + "::")):
            if not is_of_tests(path, text) and not forward_only(text, namespace):
                wrong.append(f"src/{where}: opens {namespace}; files of this group open {own}")
        for include in INCLUDE.finditer(text):
            parts = include[1].split("/")
            other = rooms.get(parts[1]) if len(parts) > 2 else None
            if other and other.group == parts[0] and other is not room:
                line = text.count("\n", 0, include.start()) + 1
                found[room.name, not is_of_tests(path, text)].setdefault(other.name, f"src/{where}:{line}")
    return found, wrong


def forward_only(text, namespace):
    """Returns whether every block of a foreign namespace only declares types, or specialises a template for them."""
    blocks = re.findall(r"^namespace %s \{\n(.*?)^\}" % re.escape(namespace), text, re.M | re.S)
    return all(re.fullmatch(r"(?:\s|//[^\n]*|(?:template <[^\n]*>\s*)?(?:class|struct|enum class) \w+(?: : \w+)?;)*", b) for b in blocks)


def needed(rooms, found, name):
    """Returns the rooms that a line should name, and those that only its tests include, in the order of the file."""
    order = list(rooms)
    uses = sorted(found[name, True], key=order.index)
    tests = sorted(set(found[name, False]) - set(uses), key=order.index)
    return uses, tests


def violations(rooms, found):
    order = {name: i for i, name in enumerate(rooms)}
    for name, room in rooms.items():
        uses, tests = needed(rooms, found, name)
        for other in uses + tests:
            where = found[name, other in uses][other]
            if order[other] > order[name]:
                yield f"{where}: {room.group}/{name} may not include {rooms[other].group}/{other}, which stands below it"
            elif other not in (room.uses if other in uses else room.uses + room.tests):
                yield f"{where}: {name} includes {other}, which its line in src/LAYERS does not name"
        for other in room.uses:
            if other not in uses:
                yield f"src/LAYERS:{room.number}: {name} names {other}, which no source of it but tests includes"
        for other in room.tests:
            if other not in tests:
                yield f"src/LAYERS:{room.number}: {name} names {other} after |, which its tests alone do not include"
        if "testing" in uses:
            yield f"{found[name, True]['testing']}: testing is for tests, benchmarks and fixtures"


def shared_names():
    """Returns types defined in two headers. Only types at the left margin count: types in classes and functions are indented."""
    first = {}
    for path in sorted(SRC.rglob("*.h")):
        for name in TYPE.findall(path.read_text()):
            where = first.setdefault(name, path)
            if where != path:
                yield f"{path.relative_to(ROOT)}: {name} is also a type of {where.relative_to(ROOT)}: rename one of them"


def picture(rooms):
    """Returns the picture: groups from the top of a call down to the base, each room with the rooms that it includes."""
    groups = list(dict.fromkeys(room.group for room in rooms.values()))
    out = ["```"]
    for group in reversed(groups):
        below = [g for g in reversed(groups[: groups.index(group)])
                 if any(rooms[u].group == g for r in rooms.values() if r.group == group for u in r.uses)]
        out.append(f"{group}/" + (f" ─► {', '.join(below)}" if below else ""))
        for room in (r for r in rooms.values() if r.group == group):
            inside = [u for u in room.uses if rooms[u].group == group]
            outside = [f"{rooms[u].group}/{u}" for u in room.uses if rooms[u].group not in (group, "common")]
            words = ([", ".join(inside)] if inside else []) + ([", ".join(outside)] if outside else [])
            out += folded(f"  {room.name:<12}", " ─► " + "; ".join(words) if words else "")
    return "\n".join(out + ["```", ""])


def folded(head, text):
    lines, line = [], head
    for word in text.split(" "):
        if len(line) + 1 + len(word) > WIDTH - 2:
            lines.append(line)
            line = " " * (len(head) + 3)
        line += (" " if line != head else "") + word
    return [*lines, line.rstrip()]


def with_picture(text, rooms):
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not end:
        sys.exit(f"{PICTURE.relative_to(ROOT)}: the marks of the picture of rooms are missing")
    return before + begin + picture(rooms) + end + after


def write(rooms, found):
    lines = LAYERS.read_text().splitlines()
    for name, room in rooms.items():
        room.uses, room.tests = needed(rooms, found, name)
        lines[room.number - 1] = room.line(room.uses, room.tests)
    LAYERS.write_text("\n".join(lines) + "\n")
    PICTURE.write_text(with_picture(PICTURE.read_text(), rooms))


def main():
    rooms = read_layers()
    found, wrong = arrows(rooms)
    if sys.argv[1:] == ["--write"]:
        write(rooms, found)
    wrong += [*violations(rooms, found), *shared_names()]
    if with_picture(PICTURE.read_text(), rooms) != PICTURE.read_text():
        wrong.append(f"{PICTURE.relative_to(ROOT)}: the picture of rooms is stale: run tools/check_layers.py --write")
    for line in wrong:
        print(line)
    if wrong:
        sys.exit(f"{len(wrong)} violations")
    arrow_count = sum(len(room.uses) for room in rooms.values())
    print(f"layers: {len(rooms)} rooms, {arrow_count} arrows, each one needed and pointing up the list")


if __name__ == "__main__":
    main()
