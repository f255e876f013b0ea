"""The plugin `kubectl taut` with a fake kubectl, which forwards to a real tautd."""
import os
import pathlib

import pytest

import daemon

PLUGIN = pathlib.Path(__file__).resolve().parent.parent.parent / "packaging" / "kubectl-taut"
KUBECTL = """#!/bin/sh
printf "%s\\n" "$*" >> "$STATE/asked"
case "$*" in
  *"get pods"*) printf "$PODS" ;;
  *port-forward*)
    [ -n "$PORT" ] || { echo "error: unable to forward port" >&2; exit 1; }
    echo $$ > "$STATE/forward"
    echo "Forwarding from 127.0.0.1:$PORT -> 7070"
    exec sleep 60 ;;
esac
"""


@pytest.fixture(scope="module")
def plugin(stage):
    """Runs the plugin, with the pods and the port that kubectl reports."""
    tautd = stage.tautd(config="clock: samples\n", store="memory")
    tools = stage.dir / "bin"
    tools.mkdir()
    (tools / "kubectl").write_text(KUBECTL)
    (tools / "kubectl").chmod(0o755)
    (tools / "taut").symlink_to(pathlib.Path(stage.args.taut).resolve())

    def run(*words, pods="tautline/tautd-0\\n", port=tautd.port, **more):
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "STATE": str(stage.dir), "PODS": pods,
               "PORT": str(port), **more}
        return stage.run(PLUGIN, *words, env=env)

    return run


def test_taut_asks_the_tautd_of_the_cluster(stage, plugin):
    ran = plugin("status", KUBECTL_TAUT_OPTIONS="--context staging")
    assert ran.returncode == 0, "kubectl taut status answers"
    assert "tautd" in ran.stdout, f"from the tautd of the cluster: {ran.stdout + ran.stderr}"
    asked = (stage.dir / "asked").read_text().splitlines()
    assert all(line.startswith("--context staging") for line in asked), f"options go to each kubectl: {asked}"
    assert "-n tautline pod/tautd-0 :7070" in asked[-1], "the pod is the one that runs"
    pid = int((stage.dir / "forward").read_text())
    assert daemon.eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists(), 5), "the port-forward ends with it"


def test_tauts_exit_code_is_the_plugins(plugin):
    assert plugin("get", "job", "nothing/of/this").returncode == 1, "taut's exit code is the plugin's"


def test_without_a_tautd_it_says_so(plugin):
    none = plugin("get", "jobs", pods="")
    assert none.returncode == 1 and "no pod with the label" in none.stderr, "without a tautd it says so"


def test_of_several_one_has_to_be_named(plugin):
    two = plugin("get", "jobs", pods="a/tautd-0\\nb/tautd-0\\n")
    assert two.returncode == 1 and "set TAUTD_POD to one of: a/tautd-0 b/tautd-0" in two.stderr, "of several one has to be named"
    assert plugin("status", pods="", TAUTD_POD="b/tautd-0").returncode == 0, "which is taken"


def test_kubectls_words_are_passed_on(plugin):
    broken = plugin("get", "jobs", port="")
    assert broken.returncode == 1 and "unable to forward port" in broken.stderr, "kubectl's words are passed on"
