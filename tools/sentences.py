"""Lists awkward sentences of the documents, by kind. check_text.py compares their numbers with tools/sentences.txt, which may only fall.

    python3 tools/sentences.py [--write] [FILE...]    # prints them; --write: writes sentences.txt

Kinds: `long` has more than 30 words. `fragment` begins with Of, What, Those or Whose, or with As, By or In and has no verb. `pronoun` hangs
on "those of", "that of" or "what ... of it". Code, headings and generated pages are not checked.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "tools" / "sentences.txt"
MADE = {"docs/reference/cli.md", "docs/reference/configuration.md"}
MAX_WORDS = 30
KINDS = ("long", "fragment", "pronoun")
END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+(?=[\"'*_(\[]*(?:[A-Z`0-9]|taut))")
HEADLESS = re.compile(r"(?:Of|What|Those|Whose)\b")
VERBLESS = re.compile(r"(?:As|By|In)\b(?!.*\b(?:is|are|was|were|be|has|have|had|can|cannot|may|must|does|do|will|would|should|[a-z]+(?:s|ed)|get|go|run|set|read|need|use|stay|keep)\b)")
PRONOUN = re.compile(r"(?i)\b(?:those|that) of\b|\bwhat\b[^.]*\bof it\b")


def documents():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(p for p in pages if str(p.relative_to(ROOT)) not in MADE)


def paragraphs(text):
    """Returns the prose of a page: paragraphs, list items and table cells, each on one line and without markup."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
    text = re.sub(r"<a id=[^>]*></a>", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    out, lines = [], []

    def end():
        if lines:
            out.append(" ".join(lines))
            lines.clear()

    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith("#") or line.startswith("    ") and not lines:
            end()
        elif stripped.startswith("|"):
            end()
            out += [cell.strip() for cell in re.split(r"(?<!\\)\|", stripped) if re.search(r"\w", cell)]
        else:
            if re.match(r"(?:[-*]|\d+\.) ", stripped):
                end()
            lines.append(re.sub(r"^(?:[-*]|\d+\.) ", "", stripped))
    end()
    return out


def sentences(text):
    for paragraph in paragraphs(text):
        yield from (s.strip() for s in END.split(paragraph) if s.strip())


def kinds_of(sentence):
    plain = re.sub(r"[*_]", "", sentence).lstrip("'( ")
    if len([w for w in plain.split() if re.search(r"\w", w)]) > MAX_WORDS:
        yield "long"
    if len(plain.split()) < 4:
        pass
    elif (HEADLESS.match(plain) and not plain.endswith("?")) or (VERBLESS.match(plain) and plain.endswith(".")):
        yield "fragment"
    if PRONOUN.search(plain):
        yield "pronoun"


def found(pages):
    """Returns {(page, kind): [sentence]}."""
    out = collections.defaultdict(list)
    for page in pages:
        for sentence in sentences(page.read_text()):
            for kind in kinds_of(sentence):
                out[str(page.relative_to(ROOT)), kind].append(sentence)
    return out


def allowed():
    rows = [line.split() for line in COUNTS.read_text().split("\n") if line and not line.startswith("#")] if COUNTS.exists() else []
    return {(page, kind): int(n) for page, *numbers in rows for kind, n in zip(KINDS, numbers)}


def grown():
    """Returns each page with more sentences of a kind than sentences.txt allows."""
    before = allowed()
    return [f"{page}: {len(texts)} sentences of kind {kind}, more than {before.get((page, kind), 0)}: python3 tools/sentences.py {page}"
            for (page, kind), texts in sorted(found(documents()).items()) if len(texts) > before.get((page, kind), 0)]


def write():
    counts = {key: len(texts) for key, texts in found(documents()).items()}
    pages = sorted({page for page, _ in counts})
    rows = [f"{page} " + " ".join(str(counts.get((page, kind), 0)) for kind in KINDS) for page in pages]
    COUNTS.write_text("# Awkward sentences of each page (tools/sentences.py): " + ", ".join(KINDS) + ". A number only falls.\n" + "\n".join(rows) + "\n")
    return {kind: sum(n for (_, k), n in counts.items() if k == kind) for kind in KINDS}


def main():
    names = [a for a in sys.argv[1:] if a != "--write"]
    if "--write" in sys.argv:
        print(write())
        return
    pages = [pathlib.Path(name).resolve() for name in names] or documents()
    for (page, kind), texts in sorted(found(pages).items()):
        for text in texts:
            print(f"{page}: {kind}: {text}")


if __name__ == "__main__":
    main()
