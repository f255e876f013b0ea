#!/usr/bin/env python3
"""Dashboard and replay report without tautd and taut: `unit` runs their unit tests, `pages` the pages in a browser."""
import pathlib
import shutil
import subprocess
import sys

APP = pathlib.Path(__file__).resolve().parent.parent / "web" / "app"
SKIPPED = 77
COMMANDS = {
    "unit": (["npx", "vitest", "run"], ["npx", "vitest"]),
    "pages": (["node", "--test", "--test-concurrency=1", "tests/pages.test.mjs", "tests/states.test.mjs",
               "tests/report.test.mjs"],
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
