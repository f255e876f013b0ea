#!/usr/bin/env python3
"""What `./dev run` starts: the terminal has the URLs, twice, and little else; logs are files; a stop ends it with 0.

    tests/demo_run_test.py --bin build/release/bin
"""
import argparse
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading

DEMO = pathlib.Path(__file__).resolve().parent.parent / "demo" / "run.py"


def three_free_ports():
    """The first of three neighbours."""
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
    sys.exit("no three free ports in a row")


def check(is_so, what, seen=""):
    if not is_so:
        sys.exit(f"FAILED: {what}\n{seen}")
    print(f"ok: {what}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    args = parser.parse_args()
    port = three_free_ports()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        demo = subprocess.Popen([sys.executable, DEMO, "--bin", args.bin, "--port", str(port), "--out", out, "--days", "1"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=DEMO.parent.parent)
        watchdog = threading.Timer(300, demo.kill)
        watchdog.start()
        lines = []
        for line in demo.stdout:
            lines.append(line)
            if "logs:" in line and any("history of 1 day is in" in before for before in lines):
                demo.send_signal(signal.SIGINT)
        code = demo.wait()
        watchdog.cancel()
        text = "".join(lines)
        check(code == 0, "a stop ends it with 0", f"{code}\n{text}")
        check(len(lines) < 40, "the terminal has less than a screen", text)
        for address in (f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port + 1}/"):
            check(text.count(address) == 2, f"{address} stands at the start and after the history", text)
        check("Look first at" in text, "and what to look at first", text)
        check("where the feed begins" in text and "simulated" in text, "what the step of the charts is, and that its savings are simulated", text)
        log = (out / "tautd-simulated.log").read_text()
        check("listens" in log and "dry_run" not in log, "decisions of a dry run are no lines of the log", log[:2000])
        for name in ("tautd-machine", "tautlet", "feed"):
            check((out / f"{name}.log").stat().st_size > 0, f"{name} has its log in a file")


if __name__ == "__main__":
    main()
