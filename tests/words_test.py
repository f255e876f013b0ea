#!/usr/bin/env python3
"""tools/check_text.py finds the phrases of tools/words.txt and awkward sentences, and no ordinary ones, also in a folder without git."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import check_text  # noqa: E402
import sentences  # noqa: E402

FORBIDDEN = ["a made-up cell", "docker: well again", "the daemon is away: limits stay", "no epoll to be had",
             "what became of orders", "Nobody is asked for anything", "clients are told to come later",
             "for so many windows", "lives a month of recorded history", "its clock: whoever calls it",
             "2 let go", '"x" is no number', "damaged blocks are passed over"]
ALLOWED = ["a live fleet with half-lives", "as long as the call lasts", "is not a number", "short-lived jobs",
           "the view is valid during the call", "there are no jobs", "is no longer running", "generated cells"]


AWKWARD = {
    "Of which one is enough.": ["fragment"], "Those that had jobs of their own keep them.": ["fragment"], "In a cell of one node.": ["fragment"],
    "What a source of history has of a job from before tautd knew it, or of a gap.": ["fragment"], "The limits are those of the owner.": ["pronoun"],
    "tautd shows what is left of it.": ["pronoun"], " ".join(["word"] * 31) + ".": ["long"]}
PLAIN = ["By default tautd reads one file.", "What does it do?", "As root, tautlet sets limits.", " ".join(["word"] * 30) + ".", "The limit of a job holds."]


def wrong_kinds():
    """Returns sentences whose kinds differ from the expected ones, and text that is not split into its sentences."""
    out = [f"{text}: {kinds}" for text, expected in AWKWARD.items() if (kinds := list(sentences.kinds_of(text))) != expected]
    out += [f"{text}: {kinds}" for text in PLAIN if (kinds := list(sentences.kinds_of(text)))]
    page = "# Head\n\nOne line\ngoes on. Two.\n\n- An item.\n- Another `x.y.` here.\n\n| a | b. C |\n|---|---|\n\n```\nOf code.\n```\n"
    read = list(sentences.sentences(page))
    if read != ["One line goes on.", "Two.", "An item.", "Another `code` here.", "a", "b.", "C"]:
        out.append(f"read as {read}")
    return out


def without_git():
    """Returns the errors if check_text.py checks files outside git, beside those that npm has put there."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        tools = pathlib.Path(check_text.__file__).parent
        for tool in ("check_text.py", "words.txt", "sentences.py"):
            (root / "tools").mkdir(exist_ok=True)
            shutil.copy(tools / tool, root / "tools" / tool)
        for folder in ("web/app/node_modules/a", "build/release", "src/x"):
            (root / folder).mkdir(parents=True)
            (root / folder / "a.cc").write_text("int\ta;\n")
        done = subprocess.run([sys.executable, root / "tools" / "check_text.py"], capture_output=True, text=True, check=False,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)})
        found = [line.split(":")[0] for line in done.stdout.splitlines() if ": a tab" in line]
        if done.returncode == 0 or found != ["src/x/a.cc"]:
            return [f"without git: found {found}, exit {done.returncode}: {done.stdout}{done.stderr}"]
    return []


def main():
    known, _ = check_text.phrases()
    failed = [f"not found: {line}" for line in FORBIDDEN if not check_text.odd_phrases(line, known)]
    failed += [f"{line}: {odd}" for line in ALLOWED for odd in check_text.odd_phrases(line, known)]
    failed += without_git()
    failed += wrong_kinds()
    failed += [f"no better term: {pattern.pattern}" for pattern, better in known if not better]
    if failed:
        sys.exit("\n".join(failed))
    print(f"words: {len(known)} phrases")


if __name__ == "__main__":
    main()
