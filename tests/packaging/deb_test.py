"""The Debian packages of a build: cpack makes them, the test unpacks and checks them, and their programs run."""
import shutil
import subprocess

import pytest

EXPECTED = {
    "taut": ["usr/bin/taut", "usr/bin/taut-dev", "usr/share/doc/tautline/operate/install.md", "usr/share/doc/tautline/reference/configuration.md",
             "usr/share/man/man1/taut.1", "usr/share/man/man1/taut-get-jobs.1", "usr/share/bash-completion/completions/taut",
             "usr/share/zsh/vendor-completions/_taut", "usr/share/fish/vendor_completions.d/taut.fish"],
    "tautd": ["usr/bin/tautd", "etc/tautline/tautd.yaml", "usr/lib/systemd/system/tautd.service",
              "usr/share/man/man8/tautd.8"],
    "tautlet": ["usr/bin/tautlet", "etc/tautline/tautlet.yaml", "usr/lib/systemd/system/tautlet.service",
                "usr/share/man/man8/tautlet.8"],
}


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{' '.join(map(str, command))} failed: {done.stdout[-3000:]}"
    return done.stdout


def has_a_page(package, root):
    """Checks that the man page has the text of --help: each option, and each line of its notes."""
    program, page = root / "usr/bin" / package, root / f"usr/share/man/man8/{package}.8"
    text = page.read_text().replace("\\-", "-")
    for line in run(program, "--help").splitlines()[1:]:
        words = line.split()
        assert not words or not words[0].startswith("-") or words[-1] in text, f"{page.name} says nothing of {line}"
    for part in [f".TH {package.upper()} 8 ", ".SH NAME", ".SH EXAMPLES", ".SH OPTIONS", "Exit codes:", "Signals:"]:
        assert part in text, f"{page.name} has no {part}"


@pytest.fixture(scope="module")
def folder(stage, args):
    if shutil.which("dpkg-shlibdeps") is None:
        pytest.skip("no dpkg-shlibdeps (Debian's dpkg-dev)")
    run("cpack", "-B", stage.dir, "--config", f"{args.build}/CPackConfig.cmake", cwd=args.build)
    return stage.dir


@pytest.mark.parametrize("package", EXPECTED)
def test_a_package_has_its_files_and_its_program_runs(folder, package):
    debs = list(folder.glob(f"{package}_*.deb"))
    assert len(debs) == 1, f"one package {package}"
    deb, root = debs[0], folder / package
    run("dpkg-deb", "-x", deb, root)
    for name in EXPECTED[package]:
        assert (root / name).is_file(), f"{deb.name} has no {name}"
    assert run(root / "usr/bin" / package, "--version").strip(), f"{package} --version prints nothing"
    assert "libc6" in run("dpkg-deb", "-f", deb, "Depends"), f"{deb.name} does not depend on its libraries"
    if package != "taut":
        has_a_page(package, root)
        is_configured(package, deb, root, folder)


def is_configured(package, deb, root, folder):
    control = folder / f"{package}.control"
    run("dpkg-deb", "-e", deb, control)
    for script in ["postinst", "prerm", "postrm"]:
        run("sh", "-n", control / script)
        assert (control / script).stat().st_mode & 0o100, f"{deb.name}: {script} is not executable"
    assert f"/etc/tautline/{package}.yaml" in (control / "conffiles").read_text(), f"{deb.name}: its configuration is not a conffile"
    # The packaged configuration is accepted, and its paths are those of the unit.
    config = (root / f"etc/tautline/{package}.yaml").read_text()
    unit = (root / f"usr/lib/systemd/system/{package}.service").read_text()
    state = unit.split("StateDirectory=")[1].split()[0]
    assert f"/var/lib/{state}" in config, f"{package}.yaml keeps nothing below /var/lib/{state}, where the unit lets it write"
    own = folder / f"{package}.yaml"
    own.write_text(config.replace(f"/var/lib/{state}", str(folder)))
    run(root / "usr/bin" / package, "--check-config", "--config", own)
