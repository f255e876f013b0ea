#!/usr/bin/env python3
"""tools/check_text.py finds the phrases of tools/words.txt, and no ordinary words."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import check_text  # noqa: E402

FORBIDDEN = ["a made-up cell", "docker: well again", "the daemon is away: limits stay", "no epoll to be had",
             "what became of orders", "Nobody is asked for anything", "clients are told to come later",
             "for so many windows", "lives a month of recorded history", "its clock: whoever calls it",
             "2 let go", '"x" is no number', "damaged blocks are passed over"]
ALLOWED = ["a live fleet with half-lives", "as long as the call lasts", "is not a number", "short-lived jobs",
           "the view is valid during the call", "there are no jobs", "is no longer running", "generated cells"]


def main():
    known = check_text.phrases()
    failed = [f"not found: {line}" for line in FORBIDDEN if not check_text.odd_phrases(line, known)]
    failed += [f"{line}: {odd}" for line in ALLOWED for odd in check_text.odd_phrases(line, known)]
    failed += [f"no better term: {pattern.pattern}" for pattern, better in known if not better]
    if failed:
        sys.exit("\n".join(failed))
    print(f"words: {len(known)} phrases")


if __name__ == "__main__":
    main()
