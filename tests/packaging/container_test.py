"""The recipe of the container image, with a base image of Debian packages: packaging/container/build.sh builds an image
from the packages of a build, and tautd runs in it.

Skips if not root, without debootstrap, docker or dpkg-dev, and where no Debian mirror answers. Without a running engine it
starts one of its own.
"""
import os
import pathlib
import re
import shutil
import subprocess
import types

import pytest

import engine

TESTS = pathlib.Path(__file__).resolve().parent.parent
LACKING = [program for program in ("debootstrap", "docker", "dpkg-shlibdeps") if shutil.which(program) is None]
pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="not root"), pytest.mark.skipif(bool(LACKING), reason=f"there is no {LACKING}")]


def run(*command, env=None, cwd=None, may_fail=False):
    done = subprocess.run([str(c) for c in command], env=env, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert may_fail or done.returncode == 0, f"{' '.join(map(str, command))} failed: {done.stdout[-3000:]}"
    return done


@pytest.fixture(scope="module")
def env(stage):
    """The environment for docker: that of the machine's engine, or of a private one without a network of its own."""
    if run("docker", "info", may_fail=True).returncode == 0:
        yield dict(os.environ)
        return
    if engine.lacking():
        pytest.skip(f"{engine.lacking()}: no Docker engine was started")
    with engine.Engine(types.SimpleNamespace(dir=stage.dir), []) as started:
        yield {**os.environ, "DOCKER_HOST": f"unix://{started.socket}", "BUILD_OPTIONS": "--network=host"}


@pytest.fixture(scope="module")
def image(stage, args, env):
    """Returns the image's name."""
    its = f"taut-recipe-{os.getpid()}"
    recipe = stage.dir / "recipe"
    shutil.copytree(TESTS.parent / "packaging" / "container", recipe / "packaging" / "container")
    run("cpack", "-B", recipe / "out", "--config", f"{args.build}/CPackConfig.cmake", cwd=args.build)
    try:
        made = run("sh", recipe / "packaging" / "container" / "build.sh", its, env={**env, "BASE": "scratch", "DOCKER_BUILDKIT": "0"}, may_fail=True)
        if made.returncode != 0 and ("Failed getting release" in made.stdout or "Couldn't download" in made.stdout):
            pytest.skip("no Debian mirror answers")
        version = made.stdout.split()[-1]  # what tautd says in the image
        assert made.returncode == 0 and re.fullmatch(r"\d+\.\d+\.\d+\S*", version), f"build.sh, and tautd in the image: {made.stdout[-3000:]}"
        yield its
    finally:
        run("docker", "image", "rm", "-f", its, env=env, may_fail=True)


def inside(env, *words):
    return run("docker", "run", "--rm", "--network=none", *words, env=env).stdout.strip()


def test_the_image_has_a_configuration_that_is_fine(image, env):
    inside(env, image, "--check-config", "--config", "/etc/tautline/tautd.yaml")


def test_the_image_runs_as_tautd(image, env):
    assert inside(env, "--entrypoint", "id", image, "-un") == "tautd"


def test_the_image_has_taut(image, env):
    inside(env, "--entrypoint", "taut", image, "--version")
