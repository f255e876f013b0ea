#!/usr/bin/env python3
"""Fails when a document names a path, a link, a heading or a command-line flag that does not exist, or a comment an entry of
references.md.

The documents are the Markdown files at the root and in docs/. The metrics that they and packaging/grafana name are checked too.
A path is text in backquotes or a link target that begins with a folder of this repository. A flag is `--name` on a line that
names taut; it must occur in src. A comment cites `references.md, A1` or several entries.
"""
import pathlib
import re
import sys

import metrics_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = {"src", "docs", "tools", "tests", "bench", "fuzz", "web", "cmake", "packaging", "examples", "python", ".ci"}
PATH = re.compile(r"[`(]((?:%s)/[A-Za-z0-9_./*{},-]+)[`)#]" % "|".join(re.escape(f) for f in FOLDERS))
METRIC = re.compile(r"\btaut(?:d|let)_[a-z_]+[a-z]\b")
CITED = re.compile(r"references\.md,((?:[\s/#*]*(?:,|and)?[\s/#*]*[A-Z]\d+\b)+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
README_WORDS, README_LINES = 900, 110
PAGE = re.compile(r"(?<![\w/])docs/[a-z_/.]+\.(?:md|yaml)\b")
ENTRY = re.compile(r"[A-Z]\d+")
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]+)")


def expand(pattern):
    """Expands foo.{h,cc} to foo.h, foo.cc."""
    match = re.search(r"\{([^}]*)\}", pattern)
    if not match:
        return [pattern]
    return [pattern[: match.start()] + option + pattern[match.end():] for option in match[1].split(",")]


def slug(heading):
    """Returns the anchor that GitHub and the site give to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def prose(text):
    """Returns the text without its fenced code."""
    return re.sub(r"(?ms)^ *```.*?^ *```", "", text)


def anchors(document):
    text = document.read_text()
    return {slug(h) for h in re.findall(r"(?m)^#+ (.*)$", prose(text))} | set(re.findall(r'<a id="([^"]+)">', text))


def broken_links(document):
    """Returns each link to a file or heading that does not exist."""
    out = []
    for target in LINK.findall(prose(document.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        if not path.exists():
            out.append(f"{document.relative_to(ROOT)}: the link {target} leads to no file")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            out.append(f"{document.relative_to(ROOT)}: the link {target} leads to no heading")
    return out


def unknown_commands(document, known):
    """Returns each command of taut in code of a document that `taut help` does not list."""
    text = document.read_text()
    fenced = re.findall(r"(?ms)^ *```(?:sh|console)?\n(.*?)^ *```", text)
    two_words = r"taut ([a-z][a-z-]*(?: [a-z][a-z-]*)?)"
    names = [name for code in fenced for name in re.findall(rf"(?m)^ *(?:\$ )?(?:kubectl )?{two_words}", code)]
    names += re.findall(rf"`(?:kubectl )?{two_words}", prose(text))
    begin_two = {name.split()[0] for name in known if " " in name}
    typed = {name if name.split()[0] in begin_two else name.split()[0] for name in names}
    return [f"{document.relative_to(ROOT)}: taut has no command {name}" for name in sorted(typed - known)]


def lost_pages():
    """Returns each mention of a page of docs/ in a source, script or manifest that leads to no file."""
    out = []
    for folder in ("src", "proto", "tests", "bench", "fuzz", "tools", "packaging", "examples", "demo", "cmake", "web/app/src", "web/app/tests"):
        for source in sorted(p for p in (ROOT / folder).rglob("*") if p.is_file() and p.suffix not in (".png", ".gz", ".pyc", ".json")):
            content = source.read_bytes()
            if b"docs/" not in content:
                continue
            for name in PAGE.findall(content.decode(errors="replace")):
                if not (ROOT / name).exists():
                    out.append(f"{source.relative_to(ROOT)}: {name} does not exist")
    return out


def main():
    cli = "\n".join(p.read_text() for p in sorted((ROOT / "src").rglob("*.cc")))
    known_flags = set(FLAG.findall(cli)) | {"help", "version"}
    bad = []
    documents = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    commands = set(re.findall(r"(?m)^### taut ([a-z -]+)$", (ROOT / "docs/reference/cli.md").read_text())) | {"man"}
    readme = (ROOT / "README.md").read_text()
    if len(readme.split()) > README_WORDS or readme.count("\n") > README_LINES:
        bad.append(f"README.md: {len(readme.split())} words and {readme.count(chr(10))} lines, more than {README_WORDS} and {README_LINES}")
    for document in documents:
        bad += broken_links(document)
        if document.name != "CHANGELOG.md":
            bad += unknown_commands(document, commands)
        text = re.sub(r"(?s)<!--.*?-->\s*", "", document.read_text())
        if document.parent != ROOT and not re.match(r"# [^\n]+\n\nFor [a-z]", text):
            bad.append(f"{document.relative_to(ROOT)}: begins without a paragraph that says whom it is for: \"For operators: how to ...\"")
        for number, line in enumerate(document.read_text().splitlines(), 1):
            where = f"{document.relative_to(ROOT)}:{number}"
            for pattern in PATH.findall(line):
                for path in expand(pattern):
                    if not list(ROOT.glob(path.rstrip("/"))):
                        bad.append(f"{where}: {path} does not exist")
            if re.search(r"\btaut\b", line):
                for flag in FLAG.findall(line):
                    if flag not in known_flags:
                        bad.append(f"{where}: --{flag} is no flag of taut")
    for document in [*documents, *sorted((ROOT / "packaging" / "grafana").glob("*.json"))]:
        for name in sorted(set(METRIC.findall(document.read_text()))):
            # _bucket, _sum and _count belong to a histogram.
            if name not in cli and re.sub(r"_(?:bucket|sum|count)$", "", name) not in cli:
                bad.append(f"{document.relative_to(ROOT)}: nothing makes {name}")
    # Both places that list the metrics to send must list all that the built-in rules use.
    used = set(re.findall(r'"((?:container|kube|process|namedprocess|node)_[A-Za-z_]+)"',
                          (ROOT / "src" / "server" / "ingest" / "builtin_rules.cc").read_text()))
    used.discard("node_exporter")  # a program
    kept = {
        "docs/start/quick_start.md": re.search(r'regex: "(container_.*?)"',
                                               (ROOT / "docs/start/quick_start.md").read_text(), re.S)[1],
        "web/app/src/lib/names.ts": "".join(re.findall(r"'([^']*)'", (ROOT / "web/app/src/lib/names.ts").read_text()
                                                       .split("PROMETHEUS_METRICS =")[1])),
    }
    for where, text in kept.items():
        pattern = re.compile(re.sub(r"\\\n\s*", "", text))
        bad += [f"{where}: its regex leaves out {name}" for name in sorted(used) if not pattern.fullmatch(name)]
    bad += lost_pages()
    entries = set(re.findall(r'<a id="([a-z]\d+)">', (ROOT / "docs" / "references.md").read_text()))
    for source in sorted(p for folder in ("src", "bench", "tests") for p in (ROOT / folder).rglob("*.*")):
        if source.suffix not in (".h", ".cc", ".py"):
            continue
        for cited in CITED.findall(source.read_text()):
            for entry in ENTRY.findall(cited):
                if entry.lower() not in entries:
                    bad.append(f"{source.relative_to(ROOT)}: references.md has no {entry}")
    api = (ROOT / "docs/reference/api.md").read_text()
    for path in re.findall(r"(?m)^  (/\S+):$", (ROOT / "src/server/api/openapi.yaml").read_text()):
        name = path.removeprefix("/api/v1/").removeprefix("jobs/{job}/")
        if f"`{name}`" not in api:
            bad.append(f"docs/reference/api.md: the path {path} is missing")
    nav = (ROOT / "tools/site/mkdocs.yml").read_text()
    bad += [f"tools/site/mkdocs.yml: the page {d.relative_to(ROOT / 'docs')} is missing" for d in documents
            if d.parent != ROOT and f"{d.relative_to(ROOT / 'docs')}\n" not in nav]
    version = re.search(r"kStoreVersion = (\d+)", (ROOT / "src/server/store/schema.h").read_text())[1]
    if f"PRAGMA user_version = {version}" not in (ROOT / "docs/operate/backup.md").read_text():
        bad.append(f"docs/operate/backup.md: the recovery of a damaged store needs user_version = {version}")
    bad += metrics_reference.stale()
    for line in bad:
        print(line)
    if bad:
        sys.exit(f"{len(bad)} stale references in the documents")
    print(f"docs: {len(documents)} documents, every path, link and flag exists")


if __name__ == "__main__":
    main()
