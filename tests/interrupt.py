#!/usr/bin/env python3
"""Starts a long command of taut, interrupts it while it runs, and prints how it ended.

    interrupt.py SECONDS COMMAND...
"""
import signal
import subprocess
import sys
import time


def main():
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(float(sys.argv[1]))
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    out, err = process.communicate(timeout=120)
    print(out.decode(), end="")
    print(err.decode(), end="", file=sys.stderr)
    print(f"ended within a minute: {time.monotonic() - asked < 60}")
    sys.exit(process.returncode if process.returncode >= 0 else 128 - process.returncode)


if __name__ == "__main__":
    main()
