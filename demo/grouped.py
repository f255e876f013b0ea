#!/usr/bin/env python3
"""Runs a command in a cgroup of its own, /TREE/NAME, if there can be one; else just so. The group goes with it.

    demo/grouped.py TREE NAME COMMAND...
"""
import signal
import subprocess
import sys

import groups


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    tree, name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda number, _: process.send_signal(signal.SIGTERM) if process else sys.exit(0))
    process = None
    try:
        process = groups.Tree(tree).group(name).run(*command, output=None)
    except groups.Unavailable as why:
        print(f"{name} runs in no cgroup of its own: {why}", file=sys.stderr)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    sys.exit(process.wait())


if __name__ == "__main__":
    main()
