#!/usr/bin/env python3
"""Runs ninja with these arguments and prints its progress: one line per tenth of the steps, or every 20 s.

The compilers' output is passed on completely. On a terminal ninja shows its progress itself.
"""
import re
import subprocess
import sys
import time

STEP = re.compile(r"^\[(\d+)/(\d+)\] ")


def main():
    command = ["ninja", *sys.argv[1:]]
    if sys.stdout.isatty():
        sys.exit(subprocess.run(command).returncode)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    start = last = time.monotonic()
    tenth = 0
    for line in child.stdout:
        step = STEP.match(line)
        if step is None:
            if not line.startswith("ninja: Entering directory"):
                print(line, end="", flush=True)
            continue
        done, total = int(step[1]), int(step[2])
        now = time.monotonic()
        if now - last >= 20 or done * 10 // total > tenth or done == total:
            last, tenth = now, done * 10 // total
            print(f"  {done} of {total} steps, {now - start:.0f} s", flush=True)
    sys.exit(child.wait())


if __name__ == "__main__":
    main()
