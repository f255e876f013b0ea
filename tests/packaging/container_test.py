#!/usr/bin/env python3
"""The recipe of the container image, with a base image of Debian packages: packaging/container/build.sh builds an image
from the packages of a build, and tautd runs in it.

container_test.py BUILD_FOLDER. Skips (exit 77) if not root, without debootstrap, docker or dpkg-dev, and where no Debian
mirror answers. Without a running engine it starts one of its own.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

TESTS = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def skip(why):
    print(f"SKIPPED: {why}; nothing was tested")
    sys.exit(SKIPPED)


def run(*command, env=None, cwd=None, may_fail=False):
    done = subprocess.run([str(c) for c in command], env=env, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0 and not may_fail:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}")
    return done


@contextlib.contextmanager
def engine(folder):
    """The environment for docker: that of the machine's engine, or of one of its own without a network of its own."""
    if run("docker", "info", may_fail=True).returncode == 0:
        yield dict(os.environ)
        return
    sys.path[:0] = [str(TESTS / "agent"), str(TESTS / "daemon")]
    import engine as own  # pylint: disable=import-outside-toplevel
    own.skip_without_one()
    with own.Engine(types.SimpleNamespace(dir=folder), []) as started:
        yield {**os.environ, "DOCKER_HOST": f"unix://{started.socket}", "BUILD_OPTIONS": "--network=host"}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        skip("not root")
    for program in ("debootstrap", "docker", "dpkg-shlibdeps"):
        if shutil.which(program) is None:
            skip(f"there is no {program}")
    image = f"taut-recipe-{os.getpid()}"
    with tempfile.TemporaryDirectory() as name, engine(pathlib.Path(name)) as env:
        recipe = pathlib.Path(name) / "recipe"
        shutil.copytree(TESTS.parent / "packaging" / "container", recipe / "packaging" / "container")
        run("cpack", "-B", recipe / "out", "--config", build / "CPackConfig.cmake", cwd=build)
        env = {**env, "BASE": "scratch", "DOCKER_BUILDKIT": "0"}
        try:
            made = run("sh", recipe / "packaging" / "container" / "build.sh", image, env=env, may_fail=True)
            if made.returncode != 0 and ("Failed getting release" in made.stdout or "Couldn't download" in made.stdout):
                skip("no Debian mirror answers")
            version = made.stdout.split()[-1]  # what tautd says in the image
            if made.returncode != 0 or not re.fullmatch(r"\d+\.\d+\.\d+\S*", version):
                sys.exit(f"build.sh failed, or tautd does not run in the image:\n{made.stdout[-3000:]}")
            print(f"{image}: tautd {version}")
            inside = ["docker", "run", "--rm", "--network=none"]
            run(*inside, image, "--check-config", "--config", "/etc/tautline/tautd.yaml", env=env)
            user = run(*inside, "--entrypoint", "id", image, "-un", env=env).stdout.strip()
            if user != "tautd":
                sys.exit(f"the image runs as {user}, not as tautd")
            run(*inside, "--entrypoint", "taut", image, "--version", env=env)
        finally:
            run("docker", "image", "rm", "-f", image, env=env, may_fail=True)


if __name__ == "__main__":
    main()
