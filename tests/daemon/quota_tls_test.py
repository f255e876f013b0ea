"""The certificates of quota.grpc: SIGHUP reopens the port with new ones, and keeps it unchanged if they are invalid."""
import hashlib
import json
import signal
import socket
import ssl
import time

import daemon

pytestmark = daemon.needs("openssl", "curl")
QUOTA = """groups:
  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 4}]}
"""
OPERATOR = "operator-0123456789abcdef012345678"


def make_certificate(stage, name):
    """Makes NAME.pem and NAME.key, signed by itself."""
    made = stage.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                     "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", stage.dir / f"{name}.key", "-out", stage.dir / f"{name}.pem")
    if made.returncode != 0:
        raise RuntimeError(f"openssl: {made.stderr}")


def served(port):
    """Returns a connection and the digest of the certificate that is served on it."""
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
        assert daemon.eventually(lambda: self.tautd.output().count("configuration_reloaded") > done, 20), (
            f"SIGHUP is answered: {self.tautd.output()[-800:]}")

    def serves(self, name, what):
        connection, got = served(self.port)
        connection.close()
        assert got == digest(self.stage, name), what

    def answers(self, ca, what):
        """Requests an unknown group, whose response needs no measured usage."""
        text = lambda number, value: daemon.field(number, value.encode())
        asked = text(1, "nobody") + text(2, "production") + daemon.field(3, text(1, "cpu") + text(2, "1"))
        got = daemon.grpc(self.stage, self.port, "taut.admission.v1.Admission/Check", asked, OPERATOR, self.stage.dir / f"{ca}.pem")
        assert isinstance(got, tuple) and got[0] == 5 and "nobody" in got[1], what

    def counted(self):
        text = self.tautd.ask("/metrics", token=OPERATOR).text
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("tautd_quota_grpc_requests_total{"))


def test_the_first_certificate_is_served(stage, story):
    for name in ("first", "second", "third"):
        make_certificate(stage, name)
    for end in ("pem", "key"):
        (stage.dir / f"used.{end}").write_bytes((stage.dir / f"first.{end}").read_bytes())
    story.tautd = stage.tautd(store=stage.dir / "tautd.db", config=f"""clock: samples
quota:
  file: {stage.file("quota.yaml", QUOTA)}
  grpc: {{listen: ["127.0.0.1:0"], tls: {{certificate: {stage.dir / "used.pem"}, key: {stage.dir / "used.key"}}}}}
server: {{tokens: {{operator_file: {stage.file("operators", OPERATOR + " anna")}}}}}
""")
    # Requests are decided once a window has closed.
    start = int(time.time()) // 300 * 300 - 1800
    labels = {"__name__": "container_cpu_usage_seconds_total", "namespace": "shop", "pod": "web-0", "container": "app"}
    assert daemon.write(story.tautd.port, daemon.write_body([(labels, [(start + 15 * i, 3.0 * i) for i in range(60)])]), OPERATOR).status == 204, (
        "usage is written")
    closed = lambda: json.loads(story.tautd.ask("/api/v1/promises", token=OPERATOR).text)["window_end"]  # noqa: E731
    assert daemon.eventually(closed, 30), "a window has closed"
    story.port = Port(stage, story.tautd)
    story.port.serves("first", "the first certificate is served")
    story.port.answers("first", "and a client that trusts it is answered")


def test_sighup_with_the_same_files_leaves_the_port_open(story):
    story.port.hup()
    assert "quota_port_reopened" not in story.tautd.output(), "SIGHUP with the same files leaves the port open"


def test_sighup_with_another_certificate_opens_the_port_again(story):
    held, _ = served(story.port.port)  # and says nothing
    story.before, since = story.port.counted(), time.monotonic()
    story.port.use("second", "second")
    story.port.hup()
    took = time.monotonic() - since
    assert story.tautd.output().count("quota_port_reopened") == 1, "SIGHUP with another certificate opens the port again"
    assert took < 10, "an open connection holds it up for seconds at most"
    held.settimeout(10)
    try:
        while held.recv(4096):
            pass
    except (ConnectionError, ssl.SSLError):
        pass  # closed, too; a time-out fails


def test_the_same_port_serves_the_new_certificate(story):
    story.port.serves("second", "the same port serves the new certificate")
    story.port.answers("second", "a client that trusts it is answered")
    assert story.before > 0 and story.port.counted() == story.before + 1, f"counts go on: {(story.before, story.port.counted())}"


def test_broken_files_are_named_and_change_nothing(stage, story):
    story.port.use("third", "second")
    story.port.hup()
    said = [line for line in story.tautd.output().splitlines() if "reload_failed" in line]
    assert len(said) == 1 and "quota.grpc" in said[0] and "used.key" in said[0], "a key of another certificate: the log names the file"
    story.port.serves("second", "and the port stays as it was")
    story.port.answers("second", "and answers")
    (stage.dir / "used.pem").write_text("nonsense\n")
    story.port.hup()
    assert sum("reload_failed" in line for line in story.tautd.output().splitlines()) == 2, "a file that is no certificate fails too"
    story.port.serves("second", "and the port stays")


def test_right_files_are_taken_over(story):
    story.port.use("third", "third")
    story.port.hup()
    story.port.serves("third", "once the files are right, they are taken over")
    story.port.answers("third", "and clients are answered")


def test_files_of_other_names_are_taken_over(story):
    # Other file names are reloaded like other contents.
    text = story.tautd.config.read_text()
    story.tautd.config.write_text(text.replace("used.pem", "first.pem").replace("used.key", "first.key"))
    story.port.hup()
    story.port.serves("first", "files of other names are taken over")
    assert "restart_needed" not in story.tautd.output(), f"nothing of this needs a restart: {story.tautd.output()[-600:]}"
    assert story.tautd.stop() == 0, "it stops"
