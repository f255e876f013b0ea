#!/usr/bin/env python3
"""./dev site builds the documents with every link checked, and its pages load nothing from another host. Skips (77) if pip reaches no
index."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
LOADED = re.compile(r'<(?:script|img|link)\b[^>]*\b(?:src|href)="(https?://[^"]+)"')


def main():
    done = subprocess.run([ROOT / "dev", "site"], cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    if "could not be fetched" in done.stderr:
        print(f"SKIPPED: {done.stderr.strip()}; nothing was tested")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    site = ROOT / "out" / "site"
    missing = [name for page in (ROOT / "docs").rglob("*.md")
               if not (site / (name := page.relative_to(ROOT / "docs").with_suffix(".html"))).exists()]
    if missing:
        sys.exit(f"the site lacks {', '.join(map(str, missing))}")
    loaded = {url for page in site.rglob("*.html") for url in LOADED.findall(page.read_text())}
    if loaded:
        sys.exit(f"pages load {', '.join(sorted(loaded))}")
    if "canary" not in (site / "search" / "search_index.js").read_text():
        sys.exit("the index of the search is empty")
    print(f"site: {len(list(site.rglob('*.html')))} pages, none loads anything from another host")


if __name__ == "__main__":
    main()
