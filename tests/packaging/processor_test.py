#!/usr/bin/env python3
"""On a processor that is too old for them the programs print an error and exit, instead of dying of SIGILL.

processor_test.py MARCH PROGRAM...: MARCH is what they were compiled for. Skips (exit 77) without qemu-x86_64.
"""
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
REFUSED = 78  # EX_CONFIG


def main():
    march, programs = sys.argv[1], sys.argv[2:]
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if qemu is None:
        print("SKIPPED: there is no qemu-x86_64 (Debian's qemu-user); nothing was tested")
        sys.exit(SKIPPED)
    failed = []
    for program in programs:
        name = pathlib.Path(program).name
        for cpu, is_old in (("core2duo", march == "x86-64-v3"), ("max", False)):
            done = subprocess.run([qemu, "-cpu", cpu, program, "--version"], capture_output=True, text=True, timeout=120,
                                  check=False)
            expected = REFUSED if is_old else 0
            says_why = "compiled for x86-64-v3" in done.stderr and "-DTAUT_MARCH=x86-64" in done.stderr
            if done.returncode != expected or says_why != is_old:
                failed.append(f"{name} on {cpu}: exit {done.returncode}, not {expected}: {done.stdout}{done.stderr}")
            print(f"{name} on {cpu}: exit {done.returncode}, {(done.stderr or done.stdout).splitlines()[:1]}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
