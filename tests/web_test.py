#!/usr/bin/env python3
"""The dashboard without a tautd: `unit` runs its unit tests, `pages` its pages in a browser against a mock."""
import pathlib
import shutil
import subprocess
import sys

APP = pathlib.Path(__file__).resolve().parent.parent / "web" / "app"
SKIPPED = 77
COMMANDS = {
    "unit": (["npx", "vitest", "run"], ["npx", "vitest"]),
    "pages": (["node", "--test", "--test-concurrency=1", "tests/pages.test.mjs", "tests/states.test.mjs"],
              ["node", "chromium", "playwright-core"]),
}


def main():
    command, needs = COMMANDS[sys.argv[1]]
    for what in needs:
        if shutil.which(what) is None and not (APP / "node_modules" / what).is_dir():
            print(f"SKIPPED: there is no {what} (./dev build installs it where npm is); nothing was tested")
            sys.exit(SKIPPED)
    if not (APP / "dist" / "index.html").is_file():
        print("SKIPPED: the dashboard is not built; nothing was tested")
        sys.exit(SKIPPED)
    sys.exit(subprocess.run(command, cwd=APP, timeout=1150, check=False).returncode)


if __name__ == "__main__":
    main()
