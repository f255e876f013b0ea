#!/usr/bin/env python3
"""An example of the owner's endpoint of tautd's webhook: checks each order, applies it once, and says so.

    webhook_receiver.py --secret-file secret --state orders.jsonl --port 8090 [--command ./set-limit]

An order is accepted if its signature is right and its timestamp at most --window seconds off. Each idempotency key is
applied once: a repeated request gets the first response again, also after a restart. With --command the order is
applied by a program, which gets the body on standard input: exit code 0 is applied, 75 (temporary failure) lets tautd
retry, any other is refused with its standard error as the reason. Without a command, orders are only recorded.

The state is a file with one JSON object per line. Orders arrive in sequence for each job and target; a lower decision
than the last one of its job and target is refused, in case another sender is at work.
"""
import argparse
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

MAX_BODY_BYTES = 8 << 20
TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h


def signature(secret, timestamp, body):
    return "v1=" + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Orders:
    """Those that were applied, by idempotency key, in a file that survives a restart."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.answers = {}
        self.newest = {}  # decision by (job, target)
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                self.remember(json.loads(line))
            except ValueError:
                print(f"{path}: a damaged line is skipped", file=sys.stderr)
        self.file = open(path, "a", encoding="utf-8")

    def remember(self, record):
        order = record["order"]
        self.answers[record["key"]] = (record["status"], record["answer"])
        self.newest[order["job"], order["target"]] = order["decision"]

    def write(self, key, order, status, answer):
        record = {"key": key, "order": order, "status": status, "answer": answer, "time": time.time()}
        self.file.write(json.dumps(record) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())  # before the response: tautd does not repeat what was applied
        self.remember(record)


def apply(command, order, body):
    """(status, answer) for an order; status 503 lets tautd retry."""
    if command is None:
        return 200, {"message": "recorded"}
    try:
        done = subprocess.run([command], input=body, capture_output=True, timeout=8, check=False)
    except subprocess.TimeoutExpired:
        return 503, {"message": f"{command} took longer than 8 s"}
    except OSError as e:
        return 503, {"message": f"cannot run {command}: {e.strerror}"}
    if done.returncode == TEMPORARY_FAILURE:
        return 503, {"message": done.stderr.decode(errors="replace").strip()[-200:]}
    if done.returncode != 0:
        return 200, {"applied": False, "message": done.stderr.decode(errors="replace").strip()[-200:]}
    return 200, {"message": done.stdout.decode(errors="replace").strip()[-200:] or "applied"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    secret, orders, window_s, program = b"", None, 300, None

    def log_message(self, *args):
        pass

    def answer(self, status, answer):
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413, {"message": f"expected a body of at most {MAX_BODY_BYTES} bytes"})
        body = self.rfile.read(int(length))
        key = self.headers.get("Idempotency-Key", "")
        timestamp = self.headers.get("Tautline-Timestamp", "")
        expected = signature(self.secret, timestamp, body)
        # Before anything of the body is read: a sender without the secret gets no other answer.
        if not hmac.compare_digest(expected, self.headers.get("Tautline-Signature", "")):
            return self.answer(401, {"message": "invalid signature"})
        if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > self.window_s:
            return self.answer(401, {"message": f"the timestamp is more than {self.window_s} s off; check the clocks"})
        if not key:
            return self.answer(400, {"message": "Idempotency-Key is missing"})
        order = json.loads(body)
        if order["version"] != 1:
            return self.answer(400, {"message": f"unknown version {order['version']}; expected 1"})
        with self.orders.lock:
            self.answer(*self.once(key, order, body))

    def once(self, key, order, body):
        if key in self.orders.answers:
            return self.orders.answers[key]
        if order["decision"] < self.orders.newest.get((order["job"], order["target"]), 0):
            return 409, {"message": "a newer decision was applied"}
        status, answer = apply(self.program, order, body)
        if status == 200:
            self.orders.write(key, order, status, answer)
            print(f"{order['job']} {order['target']}: {order['value']} {order['unit']}", flush=True)
        return status, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--secret-file", required=True, type=pathlib.Path, help="as webhook.secret_file of tautd")
    parser.add_argument("--state", required=True, type=pathlib.Path, help="file of the orders that were applied")
    parser.add_argument("--port", type=int, default=8090, help="port on 127.0.0.1 (8090)")
    parser.add_argument("--window", type=int, default=300, help="seconds that a timestamp may be off (300)")
    parser.add_argument("--command", help="program that applies an order; none: orders are only recorded")
    args = parser.parse_args()
    Handler.secret = args.secret_file.read_text().strip().encode()
    Handler.orders = Orders(args.state)
    Handler.window_s, Handler.program = args.window, args.command
    server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
