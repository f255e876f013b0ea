#!/usr/bin/env python3
"""The certificates of quota.grpc: SIGHUP opens the port again with new ones, and keeps it as it was with broken ones."""
import hashlib
import json
import signal
import socket
import ssl
import time

import daemon

QUOTA = """groups:
  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 4}]}
"""
OPERATOR = "operator-0123456789abcdef012345678"


def make_certificate(stage, name):
    """NAME.pem and NAME.key, signed by itself."""
    made = stage.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                     "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", stage.dir / f"{name}.key", "-out", stage.dir / f"{name}.pem")
    if made.returncode != 0:
        raise RuntimeError(f"openssl: {made.stderr}")


def served(port):
    """A connection and the digest of the certificate that is served on it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))
    return connection, hashlib.sha256(connection.getpeercert(True)).hexdigest()


def digest(stage, name):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert((stage.dir / f"{name}.pem").read_text())).hexdigest()


class Port:
    def __init__(self, stage, tautd):
        self.stage, self.tautd = stage, tautd
        self.port = int(tautd.output().partition("requests for quota (gRPC) on port ")[2].split()[0])

    def use(self, certificate, key):
        for name, of in (("pem", certificate), ("key", key)):
            (self.stage.dir / f"used.{name}").write_bytes((self.stage.dir / f"{of}.{name}").read_bytes())

    def hup(self):
        done = self.tautd.output().count("configuration_reloaded")
        self.tautd.popen.send_signal(signal.SIGHUP)
        self.stage.check(daemon.eventually(lambda: self.tautd.output().count("configuration_reloaded") > done, 20), "SIGHUP is answered",
                         self.tautd.output()[-800:])

    def serves(self, name, what):
        connection, got = served(self.port)
        connection.close()
        self.stage.equal(got, digest(self.stage, name), what)

    def answers(self, ca, what):
        """An unknown group: what is known before any usage was measured."""
        text = lambda number, value: daemon.field(number, value.encode())
        asked = text(1, "nobody") + text(2, "production") + daemon.field(3, text(1, "cpu") + text(2, "1"))
        got = daemon.grpc(self.stage, self.port, "taut.admission.v1.Admission/Check", asked, OPERATOR, self.stage.dir / f"{ca}.pem")
        self.stage.check(isinstance(got, tuple) and got[0] == 5 and "nobody" in got[1], what, got)

    def counted(self):
        text = self.tautd.ask("/metrics", token=OPERATOR).text
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("tautd_quota_grpc_requests_total{"))


def main():
    args = daemon.arguments(__doc__)
    daemon.skip_without("openssl", "curl")
    with daemon.Stage(args) as stage:
        for name in ("first", "second", "third"):
            make_certificate(stage, name)
        for end in ("pem", "key"):
            (stage.dir / f"used.{end}").write_bytes((stage.dir / f"first.{end}").read_bytes())
        tautd = stage.tautd(store=stage.dir / "tautd.db", config=f"""clock: samples
quota:
  file: {stage.file("quota.yaml", QUOTA)}
  grpc: {{listen: ["127.0.0.1:0"], tls: {{certificate: {stage.dir / "used.pem"}, key: {stage.dir / "used.key"}}}}}
server: {{tokens: {{operator_file: {stage.file("operators", OPERATOR + " anna")}}}}}
""")
        # Requests are decided once a window has closed.
        start = int(time.time()) // 300 * 300 - 1800
        labels = {"__name__": "container_cpu_usage_seconds_total", "namespace": "shop", "pod": "web-0", "container": "app"}
        stage.equal(daemon.write(tautd.port, daemon.write_body([(labels, [(start + 15 * i, 3.0 * i) for i in range(60)])]), OPERATOR).status, 204, "usage is written")
        closed = lambda: json.loads(tautd.ask("/api/v1/promises", token=OPERATOR).text)["window_end"]  # noqa: E731
        stage.check(daemon.eventually(closed, 30), "a window has closed")
        port = Port(stage, tautd)
        port.serves("first", "the first certificate is served")
        port.answers("first", "and a client that trusts it is answered")

        port.hup()
        stage.check("quota_port_reopened" not in tautd.output(), "SIGHUP with the same files leaves the port open")

        held, _ = served(port.port)  # and says nothing
        before, since = port.counted(), time.monotonic()
        port.use("second", "second")
        port.hup()
        took = time.monotonic() - since
        stage.equal(tautd.output().count("quota_port_reopened"), 1, "SIGHUP with another certificate opens the port again")
        stage.check(took < 10, "an open connection holds it up for seconds at most", took)
        held.settimeout(10)
        try:
            while held.recv(4096):
                pass
            ended = True
        except (ConnectionError, ssl.SSLError):
            ended = True
        except TimeoutError:
            ended = False
        stage.check(ended, "and is closed")
        port.serves("second", "the same port serves the new certificate")
        port.answers("second", "a client that trusts it is answered")
        stage.check(before > 0 and port.counted() == before + 1, "counts go on", (before, port.counted()))

        port.use("third", "second")
        port.hup()
        said = [line for line in tautd.output().splitlines() if "reload_failed" in line]
        stage.check(len(said) == 1 and "quota.grpc" in said[0] and "used.key" in said[0], "a key of another certificate: the log names the file", said)
        port.serves("second", "and the port stays as it was")
        port.answers("second", "and answers")
        (stage.dir / "used.pem").write_text("nonsense\n")
        port.hup()
        stage.equal(sum("reload_failed" in line for line in tautd.output().splitlines()), 2, "a file that is no certificate fails too")
        port.serves("second", "and the port stays")

        port.use("third", "third")
        port.hup()
        port.serves("third", "once the files are right, they are taken over")
        port.answers("third", "and clients are answered")

        # Other names of files are taken over as other contents are.
        text = tautd.config.read_text()
        tautd.config.write_text(text.replace("used.pem", "first.pem").replace("used.key", "first.key"))
        port.hup()
        port.serves("first", "files of other names are taken over")
        stage.check("restart_needed" not in tautd.output(), "nothing of this needs a restart", tautd.output()[-600:])
        stage.equal(tautd.stop(), 0, "it stops")
    stage.finish()


if __name__ == "__main__":
    main()
