#!/usr/bin/env python3
"""Do the unit tests notice wrong arithmetic? Changes one operator, constant or statement of a source at a time, builds
the tests of its room and runs them. A change that no test notices survives, and is printed.

    tools/mutate.py                                          # 60 changes over the rooms of ROOMS
    tools/mutate.py --sample 20 --seed 3 rollout             # one room
    tools/mutate.py --file src/vertical/analogs.cc --sample 0  # every change of a file

Works in this tree and restores each file, also when interrupted. 20-60 s a change. Exit code 1 if fewer than --at-least
of the changes are noticed. A survivor may be harmless: a different order of equals, or a faster way to the same.
"""
import argparse
import pathlib
import random
import re
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What decides: the brain, the gate, and the limits that an agent sets by itself.
ROOMS = ["histogram", "vertical", "rollout", "engine", "live", "node"]
OPERATORS = [
    (r" < ", [" <= ", " > "]), (r" <= ", [" < "]), (r" > ", [" >= ", " < "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]),
    (r" && ", [" || "]), (r" \|\| ", [" && "]), (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r"std::max\b", ["std::min"]),
    (r"std::min\b", ["std::max"]), (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
]
CONDITION = re.compile(r"if \((.+)\)(?= \{| return\b| continue;| break;|$)")
STATEMENT = re.compile(r"^\s+(?!return|const|auto|using|static|case|double|int|size_t|float|bool)[\w.>\[\]*()-]+( [-+*/]?= [^;{]+|\([^;{]*\));$")


def changes_of(path):
    """(line number, text before, text after), without comments, texts, includes and declarations of templates"""
    found = []
    for number, line in enumerate(path.read_text().splitlines()):
        code = line.split("//")[0]
        if not code.strip() or code.lstrip().startswith(("#", "template", "static_assert", "assert(")) or '"' in code:
            continue
        for pattern, others in OPERATORS:
            for match in re.finditer(pattern, code):
                for other in others:
                    found.append((number, line, code[:match.start()] + other + code[match.end():]))
        for match in CONDITION.finditer(code):
            found.append((number, line, f"{code[:match.start()]}if (!({match[1]})){code[match.end():]}"))
        if STATEMENT.match(code) and "=" in code:
            found.append((number, line, ";"))
    return found


def run(command, timeout):
    try:
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout).returncode
    except subprocess.TimeoutExpired:
        return -1


def verdict(path, number, after, build, tests):
    """"noticed", "survived" or "does not compile\""""
    lines = path.read_text().splitlines(keepends=True)
    original = "".join(lines)
    lines[number] = after + "\n"
    try:
        path.write_text("".join(lines))
        if run(["ninja", "-C", build, *tests], 1200) != 0:
            return "does not compile"
        noticed = any(run(["setarch", "-R", f"{build}/bin/{test}", "--gtest_brief=1"], 300) != 0 for test in tests)
        return "noticed" if noticed else "survived"
    finally:
        path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*")
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--sample", type=int, default=60, help="changes to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", default="", help="more test binaries, comma-separated, beside that of the file's room")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--at-least", type=float, default=0.9)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))  # so that the file is restored
    files = [ROOT / f for f in args.file] or [p for room in args.rooms or ROOMS for p in sorted((ROOT / "src" / room).glob("*.cc"))
                                              if not p.stem.endswith(("_test", "_bench"))]
    every = [(path, *change) for path in files for change in changes_of(path)]
    chosen = every if args.sample == 0 else random.Random(args.seed).sample(every, min(args.sample, len(every)))
    counts = {"noticed": 0, "survived": 0, "does not compile": 0}
    for path, number, before, after in chosen:
        tests = [f"{path.parent.name}_tests", *filter(None, args.also.split(","))]
        what = verdict(path, number, after, args.build, tests)
        counts[what] += 1
        if what == "survived":
            print(f"{path.relative_to(ROOT)}:{number + 1}: survived\n  - {before.strip()}\n  + {after.strip()}", flush=True)
        elif sys.stderr.isatty():
            print(f"{sum(counts.values())}/{len(chosen)}", end="\r", file=sys.stderr)
    tried = counts["noticed"] + counts["survived"]
    share = counts["noticed"] / tried if tried else 1
    print(f"{counts['noticed']} of {tried} changes noticed ({100 * share:.0f} %); {counts['does not compile']} did not compile; "
          f"{len(every)} are possible, seed {args.seed}")
    return 0 if share >= args.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
