"""tautlet's configuration and log: the example works unchanged, --check-config finds the errors that a start would have, and an agent that
never reaches tautd logs it."""
import json
import pathlib

import daemon

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tautlet.example.yaml"


def test_the_example_works_as_it_stands(stage):
    done = stage.run(stage.args.tautlet, "--config", EXAMPLE, "--state", f"{stage.dir}/state", "--check-config")
    assert (done.returncode, done.stderr) == (0, ""), "the example works as it stands"
    done = stage.run(stage.args.tautlet, "--config", EXAMPLE, "--state", f"{stage.dir}/state", "--list")
    assert done.returncode == 0, "--list too, with an engine or without"


def test_check_config_finds_what_would_fail_at_the_start(stage):
    (pathlib.Path(stage.dir) / "file").write_text("x")
    wrong = stage.file("wrong.yaml", f"state: \"{stage.dir}/file/state\"\n"
                                     "cgroup_root: /nowhere\n"
                                     "daemon: {address: \"no-such-host.invalid:7071\", token_file: /nowhere/token,"
                                     " ca_file: /nowhere/ca.pem}\n"
                                     "tasks:\n  - {cgroup: \"/x/*\", job: \"{1}\"}\n")
    done = stage.run(stage.args.tautlet, "--config", wrong, "--check-config")
    assert done.returncode == 2, "--check-config fails on what would fail at the start"
    for text in ("invalid cgroup_root \"/nowhere\"", f"state: {stage.dir}/file is not a directory", "daemon.token_file: ",
                 "/nowhere/ca.pem", "cannot resolve \"no-such-host.invalid:7071\""):
        assert text in done.stderr, f"it names: {text}"
    done = stage.run(stage.args.tautlet, "--log-format", "xml", "--check-config")
    assert done.returncode == 2 and "invalid log format \"xml\": expected text or json" in done.stderr, "an unknown log format is an error"


def test_an_agent_that_never_reaches_tautd_says_so(stage):
    address = f"127.0.0.1:{daemon.free_port()}"
    config = stage.file("alone.yaml", f"state: \"{stage.dir}/alone\"\ndaemon: {{address: \"{address}\"}}\n"
                                      "tasks:\n  - {cgroup: \"/no-such-group-*\", job: x}\n")
    agent = stage.start("tautlet", [stage.args.tautlet, "--config", config, "--log-format", "json"],
                        lambda p: "rules" in p.output())

    def disconnected():
        for line in agent.output().splitlines():
            record = json.loads(line)
            if record.get("action") == "disconnected":
                return record
        return None

    assert daemon.eventually(disconnected, 30), f"an agent that never reached tautd logs it: {agent.output()}"
    record = disconnected() or {}
    assert (record.get("daemon"), record.get("level")) == (address, "warning"), "with the address, as a warning"
    assert record.get("error"), "and the reason"
    agent.stop()
