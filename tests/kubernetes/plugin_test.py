#!/usr/bin/env python3
"""The plugin `kubectl taut` with a kubectl of the test's own, which forwards to a real tautd."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "daemon"))
import daemon  # noqa: E402

PLUGIN = ROOT / "packaging" / "kubectl-taut"
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


def main():
    args = daemon.arguments(__doc__)
    with daemon.Stage(args) as stage:
        tautd = stage.tautd(config="clock: samples\n", store="memory")
        tools = stage.dir / "bin"
        tools.mkdir()
        (tools / "kubectl").write_text(KUBECTL)
        (tools / "kubectl").chmod(0o755)
        (tools / "taut").symlink_to(pathlib.Path(args.taut).resolve())

        def plugin(*words, pods="tautline/tautd-0\\n", port=tautd.port, **more):
            env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "STATE": str(stage.dir), "PODS": pods,
                   "PORT": str(port), **more}
            return stage.run(PLUGIN, *words, env=env)

        ran = plugin("status", KUBECTL_TAUT_OPTIONS="--context staging")
        stage.equal(ran.returncode, 0, "kubectl taut status answers")
        stage.check("tautd" in ran.stdout, "from the tautd of the cluster", ran.stdout + ran.stderr)
        asked = (stage.dir / "asked").read_text().splitlines()
        stage.check(all(line.startswith("--context staging") for line in asked), "options go to each kubectl", asked)
        stage.check("-n tautline pod/tautd-0 :7070" in asked[-1], "the pod is the one that runs", asked)
        pid = int((stage.dir / "forward").read_text())
        stage.check(daemon.eventually(lambda: not pathlib.Path(f"/proc/{pid}").exists(), 5), "the port-forward ends with it")
        stage.equal(plugin("job", "nothing/of/this").returncode, 1, "taut's exit code is the plugin's")
        none = plugin("jobs", pods="")
        stage.check(none.returncode == 1 and "no pod with the label" in none.stderr, "without a tautd it says so", none.stderr)
        two = plugin("jobs", pods="a/tautd-0\\nb/tautd-0\\n")
        stage.check(two.returncode == 1 and "set TAUTD_POD to one of: a/tautd-0 b/tautd-0" in two.stderr,
                    "of several one has to be named", two.stderr)
        stage.equal(plugin("status", pods="", TAUTD_POD="b/tautd-0").returncode, 0, "which is taken")
        broken = plugin("jobs", port="")
        stage.check(broken.returncode == 1 and "unable to forward port" in broken.stderr, "kubectl's words are passed on",
                    broken.stderr)
        stage.finish()


if __name__ == "__main__":
    main()
