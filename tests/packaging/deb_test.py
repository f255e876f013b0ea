#!/usr/bin/env python3
"""The Debian packages of a build: made by cpack, unpacked, and looked at; the programs in them run.

deb_test.py BUILD_FOLDER. Skips (exit 77) without dpkg-dev.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXPECTED = {
    "taut": ["usr/bin/taut", "usr/bin/taut-dev", "usr/share/doc/tautline/operate/install.md", "usr/share/doc/tautline/reference/configuration.md",
             "usr/share/man/man1/taut.1", "usr/share/man/man1/taut-jobs.1", "usr/share/bash-completion/completions/taut",
             "usr/share/zsh/vendor-completions/_taut"],
    "tautd": ["usr/bin/tautd", "etc/tautline/tautd.yaml", "usr/lib/systemd/system/tautd.service",
              "usr/share/man/man8/tautd.8"],
    "tautlet": ["usr/bin/tautlet", "etc/tautline/tautlet.yaml", "usr/lib/systemd/system/tautlet.service",
                "usr/share/man/man8/tautlet.8"],
}


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def check_page(package, root):
    """The man page says what --help says: each option, and each line of its notes."""
    program, page = root / "usr/bin" / package, root / f"usr/share/man/man8/{package}.8"
    text = page.read_text().replace("\\-", "-")
    for line in run(program, "--help").splitlines()[1:]:
        words = line.split()
        if words and words[0].startswith("-") and words[-1] not in text:
            sys.exit(f"{page.name} says nothing of {line}")
    for part in [f".TH {package.upper()} 8 ", ".SH NAME", ".SH EXAMPLES", ".SH OPTIONS", "Exit codes:", "Signals:"]:
        if part not in text:
            sys.exit(f"{page.name} has no {part}")


def check(package, deb, folder):
    root = folder / package
    run("dpkg-deb", "-x", deb, root)
    for name in EXPECTED[package]:
        if not (root / name).is_file():
            sys.exit(f"{deb.name} has no {name}")
    if (version := run(root / "usr/bin" / package, "--version").strip()) == "":
        sys.exit(f"{package} --version prints nothing")
    if "libc6" not in run("dpkg-deb", "-f", deb, "Depends"):
        sys.exit(f"{deb.name} does not depend on its libraries")
    if package == "taut":
        return version
    check_page(package, root)
    control = folder / f"{package}.control"
    run("dpkg-deb", "-e", deb, control)
    for script in ["postinst", "prerm", "postrm"]:
        run("sh", "-n", control / script)
        if not (control / script).stat().st_mode & 0o100:
            sys.exit(f"{deb.name}: {script} is not executable")
    if f"/etc/tautline/{package}.yaml" not in (control / "conffiles").read_text():
        sys.exit(f"{deb.name}: its configuration is not a conffile")
    # The packaged configuration is accepted, and its paths are those of the unit.
    config = (root / f"etc/tautline/{package}.yaml").read_text()
    unit = (root / f"usr/lib/systemd/system/{package}.service").read_text()
    state = unit.split("StateDirectory=")[1].split()[0]
    if f"/var/lib/{state}" not in config:
        sys.exit(f"{package}.yaml keeps nothing below /var/lib/{state}, where the unit lets it write")
    own = folder / f"{package}.yaml"
    own.write_text(config.replace(f"/var/lib/{state}", str(folder)))
    run(root / "usr/bin" / package, "--check-config", "--config", own)
    return version


def main():
    if shutil.which("dpkg-shlibdeps") is None:
        print("SKIP: no dpkg-shlibdeps (Debian's dpkg-dev)")
        sys.exit(77)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run("cpack", "-B", folder, "--config", build / "CPackConfig.cmake", cwd=build)
        for package in EXPECTED:
            debs = list(folder.glob(f"{package}_*.deb"))
            if len(debs) != 1:
                sys.exit(f"expected one package {package}, found {[d.name for d in debs]}")
            print(f"{debs[0].name}: version {check(package, debs[0], folder)}")


if __name__ == "__main__":
    main()
