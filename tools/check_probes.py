#!/usr/bin/env python3
"""Lists the probes (src/common/base/probe.h) that no test has reached.

    TAUT_PROBES=out/probes ./dev test release slow && python3 tools/check_probes.py out/probes

FOLDER has the files that the processes of a test run wrote. tools/probes.txt names the probes that no test of this run
can reach, each with the reason; the check fails for one that is neither reached nor named there, and for one that is
named there and reached. Without FOLDER it checks the names alone: each is unique.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXPLAINED = ROOT / "tools" / "probes.txt"
PROBE = re.compile(r'\bTAUT_PROBE\(\s*"([^"]+)"\s*\)')


def probes():
    """{name: [place, ...]} of all sources but those of tests."""
    found = collections.defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.cc")):
        if path.stem.endswith("_test"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in PROBE.findall(line):
                found[name].append(f"{path.relative_to(ROOT)}:{number}")
    return found


def main(args):
    found = probes()
    wrong = [f"{name}: two probes have this name: {', '.join(places)}" for name, places in found.items() if len(places) > 1]
    explained = {}
    for line in EXPLAINED.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, why = line.partition(": ")
            explained[name] = why
    wrong += [f"{name}: tools/probes.txt names it, no source does" for name in explained if name not in found]
    if args:
        reached = set()
        for path in pathlib.Path(args[0]).iterdir():
            reached.update(path.read_text().splitlines())
        wrong += [f"{places[0]}: no test reaches \"{name}\"" for name, places in found.items()
                  if name not in reached and name not in explained]
        wrong += [f"{name}: is reached, and named in tools/probes.txt" for name in explained if name in reached]
        print(f"probes: {len(reached & set(found))} of {len(found)} reached, {len(explained)} explained in tools/probes.txt")
    else:
        print(f"probes: {len(found)}, each with a name of its own")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
