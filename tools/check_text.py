#!/usr/bin/env python3
"""Fails on text that has no place in this repository: see RULES, words.txt for phrases with a better term, and sentences.py for
sentences that are hard to read.

Checks the files that git tracks, or every file if there is no git.
"""
import pathlib
import re
import subprocess
import sys

import sentences

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".h", ".cc", ".py", ".js", ".css", ".txt", ".cmake", ".test", ""}
MAX_COLUMNS = 115
# (what, pattern, suffixes or None for all); the patterns are split so that this file passes its own check.
RULES = [
    ("an address of a package registry", re.compile(r"(?i)\b(?:deb|security|archive|registry|index|static|proxy)\.(?:"
                                                    r"debian|ubuntu|npmjs|crates|golang)\.[a-z]+|pypi" r"\.org|"
                                                    r"repo1?\.maven|crates" r"\.io|files\.pythonhosted"), None),
    ("an unfinished note", re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), SOURCES | {".md"}),
    ("a whole namespace pulled in", re.compile(r"\busing name" r"space std\b"), {".h", ".cc"}),
    ("a tab", re.compile(r"\t"), {".h", ".cc", ".py", ".js", ".css", ".md"}),
    ("blanks at a line's end", re.compile(r"(?m)[ \t]+$"), {".h", ".cc", ".py", ".js", ".css"}),
    ("a merge left over", re.compile(r"(?m)^(?:<{7} |>{7} |={7}$)"), None),
]


# Files that words.txt applies to: not tests, whose names are sentences.
WORDS_IN = re.compile(r"(?:src|docs|web/app/src|proto|packaging|dev$|[A-Z]+\.md$)")
NOT_WORDS_IN = re.compile(r"_test\.|_bench\.|_fixture\.|control_story\.h|store_subject\.h")


PHRASE = r"(?i)(?<![\w-])(?:{})(?![\w-])"


def phrases():
    """Returns [(pattern, replacement)] of words.txt, and a pattern of all of them."""
    out, every = [], []
    for line in (ROOT / "tools" / "words.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            phrase, _, better = line.partition(" = ")
            out.append((re.compile(PHRASE.format(phrase)), better))
            every.append(phrase)
    return out, re.compile(PHRASE.format("|".join(every)))


def odd_phrases(text, known):
    """Returns each phrase in `text` that words.txt forbids, with the better term."""
    return [f'"{found[0]}": write {better}' for pattern, better in known if (found := pattern.search(text))]


def tracked():
    try:
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
        return [ROOT / n for n in names.decode().split("\0") if n]
    except (OSError, subprocess.CalledProcessError):
        skip = {"build", "out", ".git", "node_modules", "dist", "__pycache__"}
        return [p for p in ROOT.rglob("*") if not skip & set(p.relative_to(ROOT).parts) and p.is_file()]


def main():
    bad, files = [], 0
    known, any_known = phrases()
    for path in sorted(tracked()):
        name = path.relative_to(ROOT)
        if not path.is_file() or path.name == "LICENSE":
            continue
        content = path.read_bytes()
        if b"\0" in content:
            continue
        files += 1
        text = content.decode(errors="replace")
        lines = text.split("\n")
        # Most files contain no match, so each file is first searched as a whole.
        rules = [(what, pattern) for what, pattern, suffixes in RULES
                 if (suffixes is None or path.suffix in suffixes) and pattern.search(text)]
        measured = path.suffix in {".h", ".cc"}
        checks_words = WORDS_IN.match(str(name)) and not NOT_WORDS_IN.search(str(name))
        checks_words = checks_words and any_known.search(text)
        for number, line in enumerate(lines, 1):
            if checks_words:
                bad += [f"{name}:{number}: {odd}" for odd in odd_phrases(line, known)]
            for what, pattern in rules:
                if pattern.search(line):
                    bad.append(f"{name}:{number}: {what}: {line.strip()[:80]}")
            if measured and len(line) > MAX_COLUMNS and '"' not in line:  # text is not cut
                bad.append(f"{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}")
    bad += sentences.grown()
    for line in bad:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} lines that should not be there")
    print(f"text: {files} files")


if __name__ == "__main__":
    main()
