#!/usr/bin/env python3
"""Checks whether the unit tests notice wrong arithmetic. Changes one operator, condition or statement of a source at a time and runs the
tests of its room. A change that no test notices survives, and is printed.

    tools/mutate.py                                            # 60 changes over the rooms of ROOMS
    tools/mutate.py --sample 0 rollout                         # every change of a room
    tools/mutate.py --file src/brain/recommend/analogs.cc --sample 0  # every change of a file
    tools/mutate.py --own --sample 0 live                      # by x*_test.cc of each x.cc alone: quick, and the share is a lower bound

A source is compiled once with all its changes, and an environment variable chooses the active one; a change
for which that does not compile is compiled alone. Sources and build folder stay as they are: the changed object is linked
before the library of its room. Needs a configured build folder whose sources are compiled file by file, as those of preset
debug (cmake --preset debug); builds the tests of the rooms first.

tools/mutate_same.txt lists changes without an effect that a caller can observe, each with the reason; they are not counted. An entry
contains the line before and after, so it becomes invalid when that line changes. Lines with a string ("...") are never changed.
Exit code 1 if fewer than --at-least of the changes are noticed, 2 if an entry of the list does not fit its file.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAME = ROOT / "tools" / "mutate_same.txt"
# Code that decides: the brain, the gate, and the limits that an agent sets by itself.
ROOMS = ["histogram", "recommend", "replicas", "rollout", "fleet", "agent"]
OPERATORS = [
    (r" < ", [" <= ", " > "]), (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]),
    (r" && ", [" || "]), (r" \|\| ", [" && "]), (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r"std::max\b", ["std::min"]),
    (r"std::min\b", ["std::max"]), (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
]
CONDITION = re.compile(r"if \((.+)\)(?= \{| return\b| continue;| break;|$)")
STATEMENT = re.compile(r"^\s+(?!return|const|auto|using|static|case|double|int|size_t|float|bool)[\w.>\[\]*()-]+"
                       r"( [-+*/]?= [^;{]+|\([^;{]*\));$")
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
ASSIGNMENT = re.compile(r"(?<![<>=!])[-+*/%|&^]?=(?!=)")
OPENING, CLOSING = "([{", ")]}"

# text[start:end] becomes `new`; [first, last): what surrounds it and can be chosen as a whole, an expression or a statement
Change = collections.namedtuple("Change", "start end new first last kind")


def masked(text):
    """Returns the code with comments as blanks and strings as underscores of the same length."""
    return LITERAL.sub(lambda m: re.sub(r"[^\n]", " " if m[0].startswith("/") else "_", m[0]), text)


def opening_of(code, at):
    """Returns the position where the bracket that code[at] closes was opened."""
    depth = 0
    while at >= 0:
        depth += (code[at] in CLOSING) - (code[at] in OPENING)
        if depth == 0:
            return at
        at -= 1
    return 0


def left_end(code, at, assigned):
    """Returns the start of the expression (with `assigned`: of the assignment) that contains code[at]."""
    while at > 0:
        before = code[at - 1]
        if before in CLOSING:
            follows = code[at:].lstrip()[:1]
            opened = opening_of(code, at - 1)
            if before == "}" and not re.match(r"[\w>]", code[opened - 1]):
                return at  # the end of a block, not of a value
            if before == ")" and code[at] in " \n" and re.match(r"[\w*]", follows) and code[at:].lstrip()[:2] != "* ":
                return at  # if (...) statement
            at = opened
            continue
        if before in OPENING or before in ";,?" or (before == ":" and code[at - 2] != ":" and code[at] != ":"):
            return at
        if before == "=" and not assigned and (code[at - 2] not in "<>=!" and code[at] != "="):
            return at
        word = re.search(r"\b(return|else|do|throw|case)$", code[max(0, at - 8):at])
        if word and not re.match(r"\w", code[at]):
            return at
        at -= 1
    return 0


def right_end(code, at, assigned):
    depth = 0
    while at < len(code):
        c = code[at]
        if depth == 0 and (c in CLOSING or c in ";,?" or (c == ":" and code[at - 1] != ":" and code[at + 1] != ":")):
            return at
        if depth == 0 and c == "=" and not assigned and code[at - 1] not in "<>=!" and code[at + 1] != "=":
            return at
        depth += (c in OPENING) - (c in CLOSING)
        at += 1
    return at


def changes_of(text):
    """Returns the changes of a source, outside comments, strings, includes and template declarations."""
    found = []
    clean = masked(text)
    offset = 0
    for line in text.splitlines(keepends=True):
        code = line.split("//")[0].rstrip("\n")
        begin, offset = offset, offset + len(line)
        if not code.strip() or code.lstrip().startswith(("#", "template", "static_assert", "assert(")) or '"' in code:
            continue
        for pattern, others in OPERATORS:
            for match in re.finditer(pattern, code):
                start, end = begin + match.start(), begin + match.end()
                assigned = pattern in (r" \+= ", r" -= ")
                first, last = left_end(clean, start, assigned), right_end(clean, end, assigned)
                for other in others:
                    found.append(Change(start, end, other, first, last, "assignment" if assigned else "expression"))
        for match in CONDITION.finditer(code):
            asked = match[1][match[1].rfind("; ") + 2:] if "; " in match[1] else match[1]  # if (declaration; condition)
            start, end = begin + match.end(1) - len(asked), begin + match.end(1)
            found.append(Change(start, end, f"!({asked})", start, end, "expression"))
        if STATEMENT.match(code) and "=" in code:
            start, end = begin + len(code) - len(code.lstrip()), begin + len(code)
            found.append(Change(start, end, ";", start, end, "statement"))
    return found


def changed(text, change):
    return text[:change.start] + change.new + text[change.end:]


def lines_of(text, change):
    """Returns (line number, text before, text after)."""
    begin = text.rfind("\n", 0, change.start) + 1
    end = text.find("\n", change.end)
    after = text[begin:change.start] + change.new + text[change.end:end]
    return text.count("\n", 0, begin) + 1, text[begin:end].strip(), after.strip()


CHOICE = """#include <cstdlib>
namespace { const int taut_mutant = std::getenv("TAUT_MUTANT") ? std::atoi(std::getenv("TAUT_MUTANT")) : 0; }
"""


class Mixed:
    """A source with all changes in it. Change i is active if TAUT_MUTANT is i + 1."""

    def __init__(self, text, changes, kept):
        self.source, self.owners = CHOICE, [()] * (CHOICE.count("\n") + 1)  # owners: by line, changes that it belongs to
        self.text = text
        spans = collections.defaultdict(list)
        for i in kept:
            spans[changes[i].first, changes[i].last, changes[i].kind == "statement"].append((i, changes[i]))
        # the outer ones first; of equals, the statement
        self.spans = sorted(spans.items(), key=lambda span: (span[0][0], -span[0][1], not span[0][2]))
        self.next = 0
        self.emit_range(0, len(text), ())

    def emit(self, text, owners):
        self.owners[-1] = self.owners[-1] + owners
        self.owners += [owners] * text.count("\n")
        self.source += text

    def emit_range(self, begin, end, owners):
        while self.next < len(self.spans) and self.spans[self.next][0][0] < end:
            (first, last, statement), inside = self.spans[self.next]
            self.next += 1
            if last > end or first < begin:
                continue  # crosses another: none of its changes is made, they are left to be compiled alone
            self.emit(self.text[begin:first], owners)
            ours = owners + tuple(i for i, _ in inside)
            if statement:
                self.emit(f"{{ if (taut_mutant != {inside[0][0] + 1}) {{", ours)
                self.emit_range(first, last, ours)
                self.emit("} }", ours)
            else:
                cast = "void" if inside[0][1].kind == "assignment" else ""
                self.emit("(", ours)
                for i, change in inside:
                    plain = self.text[first:change.start] + change.new + self.text[change.end:last]
                    self.emit(f"\ntaut_mutant == {i + 1} ? {cast}({plain}\n) : ", (i,))
                self.emit(f"\n{cast}(", ours)
                self.emit_range(first, last, ours)
                self.emit("\n))\n", ours)
            begin = last
        self.emit(self.text[begin:end], owners)


class Room:
    """Compiles sources and links tests of a build folder beside it."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.compilations = {c["file"]: c for c in json.loads((build / "compile_commands.json").read_text())}

    def compile(self, path, text, name):
        """Returns (the object or None, the compiler's output)."""
        entry = self.compilations.get(str(path))
        if entry is None:
            sys.exit(f"mutate: {path.relative_to(ROOT)}: not compiled by itself in {self.build}: expected a folder of preset debug")
        words = shlex.split(entry["command"])
        words = words[next(i for i, w in enumerate(words) if w.endswith(("g++", "clang++-14"))):]
        words = words[:words.index("-o")]
        source, made = self.folder / f"{name}.cc", self.folder / f"{name}.o"
        source.write_text(text)
        done = subprocess.run([*words, "-O1", "-w", "-D_GLIBCXX_ASSERTIONS", "-fmax-errors=0", "-o", made, "-c", source], cwd=entry["directory"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return (made if done.returncode == 0 else None), done.stderr

    def link(self, test, made):
        """Returns the test binary with this object linked before its libraries."""
        commands = subprocess.run(["ninja", "-C", self.build, "-t", "commands", "-s", f"bin/{test}"],
                                  capture_output=True, text=True, check=True)
        line = next(l for l in reversed(commands.stdout.splitlines()) if f" -o bin/{test} " in l)
        line = next(part for part in line.split(" && ") if f" -o bin/{test} " in part)
        binary = self.folder / f"{made.stem}.{test}"
        # The library's object may be linked as well, for functions that the optimised one has inlined: the first definition wins.
        line = line.replace(f" -o bin/{test} ", f" -Wl,--allow-multiple-definition -o {binary} {made} ")
        subprocess.run(shlex.split(line), cwd=self.build, check=True)
        return binary


def limit(cpu_seconds):
    """Limits endless loops, some of which allocate. The limit is CPU time, because a busy machine delays a test."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def own_tests(path):
    """Returns filters for the tests of x_test.cc and x_y_test.cc, one per file: they most often notice a change of x.cc and run first."""
    filters = []
    for test in sorted(path.parent.glob(f"{path.stem}*_test.cc")):
        suites = set(re.findall(r"^(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\((\w+),", test.read_text(), re.M))
        filters.append(":".join(f"{suite}.*:*/{suite}.*" for suite in sorted(suites)))
    return filters


def passes(binaries, mutant, seconds, first, rest=True):
    """Returns whether all tests pass. `first` has filters of the first binary's tests, in the order in which they run; `rest`: then all
    tests."""
    return (all(passes_all(binaries[:1], mutant, seconds, tests) for tests in first)
            and (not rest or passes_all(binaries, mutant, seconds)))


def passes_all(binaries, mutant, seconds, tests="*"):
    # Without random addresses and with one seed, a test that depends on chance behaves equally for each change.
    environment = dict(os.environ, TAUT_MUTANT=str(mutant), RC_PARAMS="seed=1")
    for binary in binaries:
        try:
            if subprocess.run(["setarch", "-R", binary, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}"],
                              cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=20 * seconds,
                              preexec_fn=lambda: limit(math.ceil(seconds))).returncode != 0:
                return False
        except subprocess.TimeoutExpired:
            return False
    return True


def mixed_object(room, path, text, changes, wanted):
    """Returns the object with as many changes as compile together, and these changes."""
    kept = list(wanted)
    for attempt in range(12):
        mixed = Mixed(text, changes, kept)
        made, errors = room.compile(path, mixed.source, "mixed")
        if made:
            placed = {i for owners in mixed.owners for i in owners}
            return made, [i for i in kept if i in placed]
        guilty = set()
        for match in re.finditer(r"mixed\.cc:(\d+):(?:\d+:)? (?:fatal )?error", errors):
            guilty.update(mixed.owners[int(match[1]) - 1][-1:] if attempt < 8 else mixed.owners[int(match[1]) - 1])
        if not guilty:
            print(f"{path.relative_to(ROOT)}: its changes do not compile together\n{errors[:2000]}", file=sys.stderr)
            return None, []
        kept = [i for i in kept if i not in guilty]
    return None, []


def try_file(room, path, text, changes, wanted, tests, own):
    """Yields (index of the change, "noticed", "survived" or "does not compile")"""
    made, together = mixed_object(room, path, text, changes, wanted)
    seconds, first = 60, own_tests(path)
    rest = not own or not first
    if together:
        binaries = [room.link(test, made) for test in tests]
        begun, times = time.monotonic(), {}
        for tests_of_file in [*first, *(["*"] if rest else [])]:
            its_begin = time.monotonic()
            if not passes_all(binaries[:1] if tests_of_file != "*" else binaries, 0, 600, tests_of_file):
                raise SystemExit(f"{path.relative_to(ROOT)}: its tests fail without a change: {tests_of_file}")
            times[tests_of_file] = time.monotonic() - its_begin
        seconds = 5 + 10 * (time.monotonic() - begun)
        first.sort(key=times.get)  # fast ones first
        for i in together:
            yield i, "survived" if passes(binaries, i + 1, seconds, first, rest) else "noticed"
    for i in wanted:
        if i not in together:
            made, _ = room.compile(path, changed(text, changes[i]), "alone")
            if not made:
                yield i, "does not compile"
            else:
                binaries = [room.link(test, made) for test in tests]
                yield i, "survived" if passes(binaries, 0, seconds, first, rest) else "noticed"


def same_changes():
    """Returns {(file, line before, line after): number of changes that it matches}, from lines "file (2 times): reason", "- before", "+
    after"."""
    listed, path, times, before = {}, "", 1, ""
    for line in SAME.read_text().splitlines() if SAME.exists() else []:
        if line.startswith("- "):
            before = line[2:].strip()
        elif line.startswith("+"):
            listed[path, before, line[1:].strip()] = times
        elif line.strip() and not line.startswith("#"):
            path, many = re.match(r"([^ :]+)(?: \((\d+) times\))?: ", line).groups()
            times = int(many or 1)
    return listed


def room_of(path):
    return path.relative_to(ROOT / "src").parts[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*")
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--sample", type=int, default=60, help="changes to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own", action="store_true", help="run only the tests x*_test.cc of a source x.cc, if there are any")
    parser.add_argument("--also", default="", help="more test binaries, comma-separated, beside that of the file's room")
    parser.add_argument("--build", default="build/debug")
    parser.add_argument("--at-least", type=float, default=0.95)
    args = parser.parse_args()
    files = [ROOT / f for f in args.file] or [p for room in args.rooms or ROOMS for p in sorted((ROOT / "src").glob(f"*/{room}/**/*.cc"))
                                              if not p.stem.endswith(("_test", "_bench"))]
    texts = {path: path.read_text() for path in files}
    changes = {path: changes_of(texts[path]) for path in files}
    every = [(path, i) for path in files for i in range(len(changes[path]))]
    listed = same_changes()
    tried, found = [], collections.Counter()
    for path, i in every:
        key = (str(path.relative_to(ROOT)), *lines_of(texts[path], changes[path][i])[1:])
        if key in listed:
            found[key] += 1
        else:
            tried.append((path, i))
    wrong = [key for key, times in listed.items() if found[key] != times and ROOT / key[0] in texts]
    for key in wrong:
        print(f"{SAME.relative_to(ROOT)}: fits {found[key]} changes of {key[0]}, not {listed[key]}\n  - {key[1]}\n  + {key[2]}")
    if wrong:
        return 2
    chosen = tried if args.sample == 0 else random.Random(args.seed).sample(tried, min(args.sample, len(tried)))
    build = ROOT / args.build
    also = list(filter(None, args.also.split(",")))
    tests = sorted({f"{room_of(path)}_tests" for path, _ in chosen} | set(also))
    subprocess.run(["ninja", "-C", build, "-j1", *tests], check=True, stdout=subprocess.DEVNULL)
    totals = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        room = Room(build, pathlib.Path(folder))
        for path in files:
            wanted = sorted(i for p, i in chosen if p == path)
            counts = collections.Counter()
            if not wanted:
                continue
            its_tests = [f"{room_of(path)}_tests", *also]
            for i, what in try_file(room, path, texts[path], changes[path], wanted, its_tests, args.own):
                counts[what] += 1
                if what == "survived":
                    number, before, after = lines_of(texts[path], changes[path][i])
                    print(f"{path.relative_to(ROOT)}:{number}: survived\n  - {before}\n  + {after}", flush=True)
            print(f"{path.relative_to(ROOT)}: {counts['noticed']} noticed, {counts['survived']} survived, "
                  f"{counts['does not compile']} do not compile", flush=True)
            totals += counts
    compiled = totals["noticed"] + totals["survived"]
    share = totals["noticed"] / compiled if compiled else 1
    print(f"{totals['noticed']} of {compiled} changes noticed ({100 * share:.1f} %); {totals['does not compile']} did not compile; "
          f"{len(every)} are possible, {len(every) - len(tried)} of them listed as changing nothing")
    return 0 if share >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
