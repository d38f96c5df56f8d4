#!/usr/bin/env python3
"""Writes the manual page of tally from what the program knows of its own commands.

    Scripts/make-manual.py PROGRAM > tally.1

The page is written when Tally is installed and is in no commit, so it cannot go out of date. The parser's own plug-in was
tried: it writes each discussion, with its examples and tables, as one paragraph.
"""

import json
import re
import subprocess
import sys

EXAMPLE = re.compile(r"^( {2,}\S|tally )")


LETTERS = {"\\": "\\e", "-": "\\-", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "'": "\\(aq", '"': "\\(dq"}


def escaped(text):
    """The text as roff prints it: no line is a request, and no letter an escape."""
    text = "".join(LETTERS.get(letter, letter if letter.isascii() else f"\\[u{ord(letter):04X}]") for letter in text)
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in text.split("\n"))


def argument_name(argument):
    names = argument.get("names")
    if not names:
        return f"<{argument['valueName']}>"
    words = sorted((("--" if name["kind"] == "long" else "-") + name["name"] for name in names), key=len)
    value = f" <{argument['valueName']}>" if argument["kind"] == "option" else ""
    return ", ".join(words) + value


def bold_before_value(name):
    """Names bold, values in italics."""
    return re.sub(r"<([^>]+)>", r"\\fI\1\\fR", re.sub(r"(\\-[\w\\-]+)", r"\\fB\1\\fR", escaped(name)))


def paragraphs(text):
    """A discussion: paragraphs, headings in capitals, and lines that must stay lines."""
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if re.fullmatch(r"[A-Z ]+", lines[0]) and len(lines) > 1:
            yield f".PP\n\\fB{escaped(lines[0].capitalize())}\\fR\n"
            lines = lines[1:]
        if all(EXAMPLE.match(line) for line in lines):
            body = "\n".join(escaped(line) for line in lines)
            yield f".PP\n.nf\n{body}\n.fi\n"
        else:
            yield ".PP\n" + escaped("\n".join(lines)) + "\n"


def options(arguments):
    for argument in arguments:
        if not argument["shouldDisplay"]:
            continue
        text = argument.get("abstract", "")
        values = argument.get("allValueStrings") or argument.get("allValues")
        if values:
            text += f" One of: {', '.join(values)}."
        yield f".TP\n{bold_before_value(argument_name(argument))}\n{escaped(text)}\n"


def synopsis(argument):
    name = bold_before_value(argument_name(argument))
    name = name if argument["kind"] == "positional" and not argument["isOptional"] else f"[{name}]"
    return name + (" ..." if argument["isRepeating"] else "")


def command_section(command, path, shared):
    words = " ".join(path + [command["commandName"]])
    own = [argument for argument in command.get("arguments", []) if argument_name(argument) not in shared]
    shown = " ".join(synopsis(argument) for argument in own if argument["shouldDisplay"])
    page = f".SS tally {escaped(words)}\n\\fBtally {escaped(words)}\\fR {shown}\n"
    page += f".PP\n{escaped(command.get('abstract', ''))}\n"
    page += "".join(paragraphs(command["discussion"])) if command.get("discussion") else ""
    page += "".join(options(own))
    for child in command.get("subcommands", []):
        if child["shouldDisplay"]:
            page += command_section(child, path + [command["commandName"]], shared)
    return page


ENVIRONMENT = {
    "TALLY_STORE": "The store's directory, unless --store names one.",
    "XDG_DATA_HOME": "Where the store is without TALLY_STORE: in its directory tally. Default: ~/.local/share.",
    "XDG_CONFIG_HOME": "Where the settings are: in tally/config.yaml. Default: ~/.config.",
    "XDG_STATE_HOME": "Where 'tally remind' keeps its journal. Default: ~/.local/state.",
    "TZ": "The time zone, unless --time-zone names one.",
    "LC_ALL, LC_TIME, LANG": "The day on which a week starts, unless --week-start or the settings name one.",
    "LC_ALL, LC_CTYPE, LANG": "Output for people is ASCII unless they name UTF-8.",
    "NO_COLOR, FORCE_COLOR, TERM, COLORTERM": "Whether colour is used, and how many colours there are.",
    "COLUMNS": "The width of a line, if it is not that of the terminal.",
    "VISUAL, EDITOR": "The program that edits notes.",
    "TMPDIR": "Where the notes are while they are edited. Default: /tmp.",
    "TALLY_TASK_ID and others": "What 'tally remind' gives to the program that it runs.",
}
FILES = {
    "~/.local/share/tally/": "The store: data.mdb and its lock files. Only its owner can read it.",
    "~/.config/tally/config.yaml": "The settings, which 'tally config' shows and changes.",
    "~/.local/state/tally/": "The journals of 'tally remind'.",
}


def page(tool):
    root = tool["command"]
    shared = {argument_name(argument) for argument in root["arguments"]}
    discussion = root["discussion"]
    # The exit status has a section of its own.
    discussion, _, statuses = discussion.partition("EXIT STATUS\n")
    discussion = re.sub(r"COMPLETION\n.*", "", discussion, flags=re.S)
    about, _, examples = discussion.partition("EXAMPLES\n")
    text = '.TH TALLY 1\n.nh\n.ad l\n.SH NAME\ntally \\- manage tasks and count what got done\n'
    text += ".SH SYNOPSIS\n\\fBtally\\fR [\\fIcommand\\fR] [\\fIoptions\\fR]\n"
    text += ".SH DESCRIPTION\n" + "".join(paragraphs(about.strip("\n")))
    text += ".SH OPTIONS\nEvery command takes these, before or after its name.\n" + "".join(options(root["arguments"]))
    text += ".SH COMMANDS\n"
    for command in root["subcommands"]:
        if command["shouldDisplay"] and command["commandName"] != "help":
            text += command_section(command, [], shared)
    text += ".SH ENVIRONMENT\n"
    text += "".join(f".TP\n\\fB{escaped(name)}\\fR\n{escaped(value)}\n" for name, value in ENVIRONMENT.items())
    text += ".SH FILES\n"
    text += "".join(f".TP\n\\fI{escaped(name)}\\fR\n{escaped(value)}\n" for name, value in FILES.items())
    text += ".SH EXIT STATUS\n"
    for line in statuses.strip("\n").splitlines():
        number, _, meaning = line.strip().partition(" ")
        text += f".TP\n{number}\n{escaped(meaning.strip())}\n"
    lines = examples.strip("\n").splitlines()
    text += ".SH EXAMPLES\n.nf\n" + "\n".join(escaped(line.strip()) for line in lines) + "\n.fi\n"
    return text + ".SH SEE ALSO\n\\fBtask\\fR(1), \\fBsystemd.unit\\fR(5)\n"


def main():
    dump = subprocess.run([sys.argv[1], "--experimental-dump-help"], capture_output=True, encoding="utf-8", check=True)
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(page(json.loads(dump.stdout)))


main()
