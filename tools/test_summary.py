#!/usr/bin/env python3
"""Summarises test runs: one run (a JUnit file of ctest), or all runs of a folder with --total.

Beside NAME.xml there may be NAME.again.xml, a second run of the failed tests: a test that passes there has passed, and is listed.
A folder also contains NAME.part files ("pass" or "fail" of a check that is not a ctest run) and the file `seconds` (lines
"PART SECONDS"). Exits 1 if anything failed.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

# The summary and the failures in the output of a room's unit tests, which a sanitizer's build runs in one process.
UNITS_PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
UNIT_FAILED = re.compile(r"^\[  FAILED  \] (\w+\.\w+)", re.MULTILINE)
UNIT_SKIPPED = re.compile(r"^.*: Skipped\n(.*)$", re.MULTILINE)
REASON = re.compile(r"^(?:SKIP(?:PED)?:? *|.*: Skipped\n)(.*)$", re.MULTILINE)


def is_skip(case):
    """Returns whether a test was skipped; one that ctest could not start (no binary) was not."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def read(path):
    """Returns passed, failed names, skipped {name: reason}, and names that passed only in the second run."""
    passed, failed, skipped = read_one(path)
    second = path.with_suffix(".again.xml")
    if not second.exists():
        return passed, failed, skipped, []
    ran = {case.get("name") for case in xml.parse(second).getroot().iter("testcase")}
    again = read_one(second)[1]
    late = [name for name in failed if (name in ran or room_of(name) in ran) and name not in again and room_of(name) not in again]
    return passed + len(late), [name for name in failed if name not in late], skipped, late


def room_of(unit):
    """Returns ctest's name of the process that ran the test."""
    return unit.split(".")[0] + ".all"


def read_one(path):
    passed, failed, skipped = 0, [], {}
    for case in xml.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        output = (case.findtext("system-out") or "").strip()
        if name.endswith(".all"):
            room = name.removesuffix("all")
            passed += sum(int(n) for n in UNITS_PASSED.findall(output))
            skipped |= {f"{room}{i}": reason.strip() for i, reason in enumerate(UNIT_SKIPPED.findall(output))}
            if case.get("status") != "run":
                # A process that crashed reports no tests.
                failed += sorted({room + unit for unit in UNIT_FAILED.findall(output)}) or [name]
        elif case.get("status") == "run":
            passed += 1
        elif case.get("status") == "fail" or not is_skip(case):
            failed.append(name)
        else:
            reason = REASON.search(output)
            skipped[name] = reason[1].strip() if reason else (output.splitlines() or ["no reason given"])[-1]
    return passed, failed, skipped


def show(name, passed, failed, skipped, late):
    for test in late:
        print(f"passed only when run once more: {test}")
    by_reason = {}
    for test, reason in skipped.items():
        by_reason.setdefault(reason, []).append(test)
    for reason, tests in sorted(by_reason.items()):
        print(f"skipped: {reason} ({', '.join(tests[:4])}{f' and {len(tests) - 4} more' if len(tests) > 4 else ''})")
    print(f"{name}: passed {passed}, failed {len(failed)}, skipped {len(skipped)}")


def main():
    if len(sys.argv) == 2:
        path = pathlib.Path(sys.argv[1])
        passed, failed, skipped, late = read(path)
        if failed or late:
            # ctest's log ends with the list of failed tests; their outputs are above it.
            print(path.with_suffix(".log").read_text(errors="replace")[-20000:])
        show(path.stem, passed, failed, skipped, late)
        return
    folder = pathlib.Path(sys.argv[2])
    all_passed, all_failed, all_skipped = 0, [], 0
    for path in sorted(set(folder.glob("*.xml")) - set(folder.glob("*.again.xml"))):
        passed, failed, skipped, _ = read(path)
        all_passed += passed
        all_failed += [f"{path.stem}: {name}" for name in failed]
        all_skipped += len(skipped)
    for path in sorted(folder.glob("*.part")):
        if path.read_text().strip() == "pass":
            all_passed += 1
        else:
            all_failed.append(path.stem)
    seconds = folder / "seconds"
    if seconds.exists():
        times = [line.split() for line in seconds.read_text().splitlines()]
        print("time (min:s): " + ", ".join(f"{name} {int(s) // 60}:{int(s) % 60:02}" for name, s in times))
    for name in all_failed:
        print(f"FAILED {name}")
    print(f"tautline: {all_passed} passed, {len(all_failed)} failed, {all_skipped} skipped")
    sys.exit(1 if all_failed or all_passed == 0 else 0)


if __name__ == "__main__":
    main()
