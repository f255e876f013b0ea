#!/usr/bin/env python3
"""Makes docs/reference/cli.md from the help of the programs.

    tools/cli_reference.py BIN            # fails if the document differs from the help of the programs in the folder BIN
    tools/cli_reference.py --write BIN    # writes it
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "cli.md"
HEAD = """# Commands

For everyone who types commands. This page has every command and option of `taut`, `taut-dev`, `tautd` and `tautlet`. It is made from
their help by `tools/cli_reference.py`, so `taut help COMMAND` prints the same.

[Querying tautd](../operate/queries.md) and [questions to a trace](../replay/questions.md) list the commands by task.
"""
TITLE = re.compile(r"[A-Z][^.;`:]{0,50}:")
OPTION = re.compile(r"^  (\S.*)$")


def text_of(binary, *arguments):
    env = {name: value for name, value in os.environ.items() if not name.startswith("TAUT_")}
    done = subprocess.run([binary, *arguments], check=True, capture_output=True, text=True, env=env)
    return "\n".join(line.rstrip() for line in done.stdout.split("\n")).strip("\n")


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def options(lines):
    """Yields the rows of a section of the help: two columns, the second at column 30 or further, or on the next line."""
    rows = []
    for line in lines:
        if (found := OPTION.match(line)) and not line.startswith("    "):
            left, _, right = found[1].partition("  ") if "  " in found[1] else (found[1], "", "")
            rows.append([left.strip(), right.strip()])
        elif line.strip() and rows:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
    return rows


def is_table(title, lines):
    return title not in ("", "Examples") and all(OPTION.match(line) or line.startswith(" " * 14) for line in lines if line.strip())


def rows_of(text):
    """Yields every row of the tables of a help, as (option, meaning)."""
    return [tuple(row) for title, lines in sections(text) if is_table(title, lines) for row in options(lines)]


def sections(text):
    """Returns [(title, lines)] of a help; lines before the first title have no title."""
    out = [("", [])]
    for line in text.split("\n"):
        if TITLE.fullmatch(line) and not line.startswith("Usage"):
            out.append((line[:-1], []))
        else:
            out[-1][1].append(line)
    return out


def rendered(text, shared):
    """Returns a help as Markdown: its text, its examples and its options. Shared options are only named."""
    out = []
    for title, lines in sections(text):
        usage = [line for line in lines if line.startswith("Usage: ")]
        body = "\n".join(line for line in lines if line not in usage).strip("\n")
        if is_table(title, lines):
            rows = [tuple(row) for row in options(lines) if not row[0].startswith("-h,")]
            own = [row for row in rows if row not in shared]
            head = "arguments" if title == "Positionals" else title.lower()
            if own:
                out += [f"| {head} | |", "|---|---|", *(f"| `{cell(left)}` | {cell(right)} |" for left, right in own), ""]
            if len(own) < len(rows):
                names = ", ".join(f"`{re.split('[ =]', left)[0]}`" for left, right in rows if (left, right) in shared)
                out += [f"[Shared](#options-of-several-commands): {names}.", ""]
        elif title or re.search(r"(?m)^  ", body):
            body = "\n".join(line[2:] if title and line.startswith("  ") else line for line in body.split("\n"))
            out += [*([f"{title}:", ""] if title else []), "```", body, "```", ""]
        elif body:
            out += [body, ""]
        out += [piece for line in usage for piece in (f"`{line[len('Usage: '):]}`", "")]
    return "\n".join(out).rstrip("\n") + "\n"


def listed_in(text):
    """[(heading, [command])] of a help."""
    for title, lines in sections(text):
        names = [name for name, _ in options(lines)]
        if title and names and title not in ("Examples", "Options", "Positionals"):
            yield title, [name.split()[0] for name in names]


def groups(taut):
    """[(heading, [command])] of `taut help`, where commands of two words follow their first word."""
    for title, names in listed_in(text_of(taut, "help")):
        commands = []
        for name in names:
            inner = [f"{name} {below}" for heading, belows in listed_in(text_of(taut, "help", name)) if heading == "Commands" for below in belows]
            commands += [name, *inner]
        yield title, commands


def shared_options(helps):
    """Returns the options with the same meaning in three commands or more, in the order of their first command."""
    seen = collections.Counter(row for text in helps.values() for row in set(rows_of(text)) if not row[0].startswith("-h,"))
    return list(dict.fromkeys(row for text in helps.values() for row in rows_of(text) if seen[row] >= 3))


def page(folder):
    out = [HEAD]
    taut = folder / "taut"
    listed = list(groups(taut))
    helps = {command: text_of(taut, "help", *command.split()) for _, commands in listed for command in commands}
    shared = shared_options(helps)
    for group, commands in listed:
        out.append(f"## {group}\n")
        out += [f"### taut {command}\n\n{rendered(helps[command], shared)}" for command in commands]
    out.append("## Options of several commands\n\n| option | |\n|---|---|")
    out += [f"| `{cell(left)}` | {cell(right)} |" for left, right in shared]
    for program, title in (("taut-dev", "For developers"), ("tautd", "The control plane"), ("tautlet", "The agent")):
        out.append(f"\n## {title}: {program}\n\n```\n{text_of(folder / program, '--help')}\n```")
    return "\n".join(out) + "\n"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    made = page(pathlib.Path(arguments[0]))
    if "--write" in sys.argv:
        PAGE.write_text(made)
    elif not PAGE.exists() or PAGE.read_text() != made:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what the programs print: run tools/cli_reference.py --write {arguments[0]}")
    print(f"{PAGE.relative_to(ROOT)}: {len(made.split())} words")


if __name__ == "__main__":
    main()
