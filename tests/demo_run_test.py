"""`./dev run`: the terminal shows the URLs, twice, and little else; logs are files; a stop ends it with 0."""
import pathlib
import signal
import socket
import subprocess
import sys
import threading

import pytest

DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo" / "run.py"


def three_free_ports():
    """Returns the first of three consecutive free ports."""
    for _ in range(100):
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                for next_port in (port + 1, port + 2):
                    with socket.socket() as other:
                        other.bind(("127.0.0.1", next_port))
                return port
            except OSError:
                continue
    raise RuntimeError("no three free ports in a row")


@pytest.fixture(scope="module")
def ran(stage):
    """Returns its port, exit code, lines and folder of logs."""
    port, out, lines = three_free_ports(), stage.dir, []
    demo = subprocess.Popen([sys.executable, DEMO, "--bin", pathlib.Path(stage.args.tautd).parent, "--port", str(port), "--out", out, "--days", "1"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=DEMO.parent.parent)
    watchdog = threading.Timer(300, demo.kill)
    watchdog.start()
    for line in demo.stdout:
        lines.append(line)
        if "logs:" in line and any("history of 1 day is in" in before for before in lines):
            demo.send_signal(signal.SIGINT)
    code = demo.wait()
    watchdog.cancel()
    return port, code, lines, out


def test_a_stop_ends_it_with_0(ran):
    _, code, lines, _ = ran
    assert code == 0, "".join(lines)


def test_the_terminal_has_less_than_a_screen_with_the_urls_twice(ran):
    port, _, lines, _ = ran
    text = "".join(lines)
    assert len(lines) < 40, text
    for address in (f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port + 1}/"):
        assert text.count(address) == 2, f"{address} stands at the start and after the history: {text}"


def test_it_says_what_to_look_at(ran):
    text = "".join(ran[2])
    assert "Look first at" in text, "what to look at first"
    assert "where the feed begins" in text and "simulated" in text, "what the step of the charts is, and that its savings are simulated"


def test_logs_are_files(ran):
    out = ran[3]
    log = (out / "tautd-simulated.log").read_text()
    assert "listens" in log and "dry_run" not in log, f"decisions of a dry run are no lines of the log: {log[:2000]}"
    for name in ("tautd-machine", "tautlet", "feed"):
        assert (out / f"{name}.log").stat().st_size > 0, f"{name} has its log in a file"
