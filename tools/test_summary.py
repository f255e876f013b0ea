#!/usr/bin/env python3
"""Says what test runs came to: one run (a JUnit file of ctest), or all of a folder with --total.

Beside NAME.xml there may be NAME.again.xml, of a second run of what failed: what passes there has passed, and is named.
A folder also holds NAME.part files ("pass" or "fail" of a check that is no ctest run) and the file `seconds` (lines
"PART SECONDS"). Exits 1 if anything failed.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

REASON = re.compile(r"^(?:SKIP(?:PED)?:? *|.*: Skipped\n)(.*)$", re.MULTILINE)


def is_skip(case):
    """A test that ctest could not start (no binary) is none."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message", "").startswith("SKIP_")


def read(path):
    """passed, failed names, skipped {name: reason}, names of those that passed in the second run only"""
    passed, failed, skipped = read_one(path)
    second = path.with_suffix(".again.xml")
    if not second.exists():
        return passed, failed, skipped, []
    cases = xml.parse(second).getroot().iter("testcase")
    passed_now = {case.get("name") for case in cases if case.get("status") == "run"}
    late = [name for name in failed if name in passed_now]
    return passed + len(late), [name for name in failed if name not in passed_now], skipped, late


def read_one(path):
    passed, failed, skipped = 0, [], {}
    for case in xml.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        output = (case.findtext("system-out") or "").strip()
        if case.get("status") == "run":
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
            # ctest's log ends with the list of what failed; the outputs stand above it.
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
