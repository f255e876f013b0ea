"""An OpenID Connect provider for tests: oidc-provider of npm."""
import base64
import os
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest

import daemon

HERE = pathlib.Path(__file__).resolve().parent / "oidc"
QUOTA = """groups:
  - {name: shop, quotas: [{tier: production, resource: cpu, nominal: 4}, {tier: production, resource: memory, nominal: 8GiB}]}
  - {name: media, quotas: [{tier: production, resource: cpu, nominal: 4}]}
"""


def modules(stage):
    """Returns the folder with oidc-provider: that of TAUT_OIDC_MODULES, or one that npm fills."""
    if os.environ.get("TAUT_OIDC_MODULES"):
        return pathlib.Path(os.environ["TAUT_OIDC_MODULES"])
    folder = stage.dir / "node"
    folder.mkdir()
    shutil.copy(HERE / "package.json", folder)
    ended = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        pytest.skip(f"npm cannot install oidc-provider: {ended.stderr[-300:]}")
    return folder


class Provider:
    def __init__(self, stage, folder):
        self.stage, self.folder, self.port, self.process = stage, folder, daemon.free_port(), None
        self.issuer = f"http://127.0.0.1:{self.port}"

    def start(self, algorithm, kid, *redirects):
        env = {**os.environ, "NODE_MODULES": str(self.folder)}
        log = self.stage.dir / f"provider.{kid}.log"
        with open(log, "wb") as out:
            self.process = subprocess.Popen(["node", HERE / "provider.mjs", str(self.port), algorithm, kid, *redirects], env=env, stdout=out, stderr=out,
                                            preexec_fn=daemon.end_with_parent)
        if not daemon.eventually(lambda: daemon.answers(self.port, "/.well-known/openid-configuration"), 30):
            raise RuntimeError(f"the provider does not start: {log.read_text()[-1000:]}")

    def stop(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()

    def token(self, client, audience="tautd"):
        body = urllib.parse.urlencode({"grant_type": "client_credentials", "resource": f"urn:{audience}"})
        basic = base64.b64encode(f"{client}:secret-of-{client}".encode()).decode()
        answer = daemon.ask(self.port, "/token", "POST", body, {"Content-Type": "application/x-www-form-urlencoded", "Authorization": f"Basic {basic}"})
        if answer.status != 200:
            raise RuntimeError(f"no token for {client}: {answer.text}")
        return answer.json()["access_token"]
