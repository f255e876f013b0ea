"""On a processor that is too old for them the programs print an error and exit, instead of dying of SIGILL."""
import shutil
import subprocess

import pytest

REFUSED = 78  # EX_CONFIG
QEMU = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")


@pytest.mark.skipif(QEMU is None, reason="there is no qemu-x86_64 (Debian's qemu-user)")
@pytest.mark.parametrize("cpu", ["core2duo", "max"])
@pytest.mark.parametrize("program", ["taut", "tautd", "tautlet"])
def test_a_program_says_that_the_processor_is_too_old(args, program, cpu):
    is_old = cpu == "core2duo" and args.march == "x86-64-v3"
    done = subprocess.run([QEMU, "-cpu", cpu, getattr(args, program), "--version"], capture_output=True, text=True, timeout=120, check=False)
    says_why = "compiled for x86-64-v3" in done.stderr and "-DTAUT_MARCH=x86-64" in done.stderr
    assert (done.returncode, says_why) == (REFUSED if is_old else 0, is_old), done.stdout + done.stderr
