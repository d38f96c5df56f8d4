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
    "LC_ALL, LC_TIME, LANG": "The day on which a week starts, unless --week-start or the settings name one, and whether 3/4 "
    "is the third of April, unless the settings say it.",
    "XDG_RUNTIME_DIR": "Where it is noted that a terminal's session was told of undo; else in XDG_STATE_HOME.",
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


TUTORIAL = [
    ("Write down what there is to do, in one sentence or literally:",
     ["tally quick Pay rent tomorrow 9am +home p:high every month", "tally quick Send the report by friday 5pm for Work",
      "tally add Buy milk --today"]),
    ("quick reads dates, tags and the rest, and says what it understood and what not; add takes its text as it is. Then see "
     "what there is:", ["tally", "tally today", "tally upcoming", "tally list Work"]),
    ("Each line begins with a handle, which names the task from then on:",
     ["tally done 7f3a", "tally move 7f3a --to friday", "tally edit 7f3a --tag garden --due monday", "tally undo"]),
    ("Nothing is lost by trying: undo takes back any change. Find tasks by what they are, and change all of them in one step:",
     ["tally find +home due.before:friday", "tally move --where 'is:overdue +home' --to today", "tally search tax form"]),
    ("See what got done, and put the settings and a short name for what you do often into the configuration:",
     ["tally stats", "tally completed --from monday", "tally config alias.rent 'quick Pay rent +home'"]),
]
FILTERS = """filter     = [alternatives]
alternatives = row {"or" row}
row        = term {["and"] term}
term       = ("not" | "-") term | "(" alternatives ")" | condition
condition  = ("+" | "@" | "#") TAG
           | field "." comparison ":" value
           | field (":" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~") value
           | "@" NAME ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") value
           | "has:@" NAME | WORD | '"' TEXT '"'
field      = list tag state parent has is priority (p) title notes text
           | day (scheduled) due reminder created updated completed
comparison = before (<) by (<=) after (>) since (>=) below above min max
           | is not has"""
DATES = """date       = day [time] | time [["on"] day] | distance | instant
day        = today tomorrow (tom) yesterday | ["next" | "last" | "this"] WEEKDAY
           | WEEKDAY "next week" | ("this" | "next") "weekend"
           | YYYY-MM-DD | 25 nov [2027] | nov 25 | ["the"] 25th of november
           | 24.12. | 24/12 | 12/24 | 15th ["of next month"] | mid january
           | eow eom eoy | ("end" | "start") "of" ["next"] (week | month | year)
           | ("next" | "last") (week | month | year)
           | +3d -2w | in 3 days | 3 days ago | 3 days before 24 dec
time       = 17:00 | 5pm | 5.30pm | noon | morning afternoon evening night | at 9
           | at 5 (17:00: one digit from 1 to 6 is in the afternoon)
distance   = 10m 2h 1d12h | in half an hour | in 1.5 hours | now+2h
instant    = ISO 8601, as in 2026-11-21T12:00:00Z
repetition = every [N] day week month quarter year | every 3rd day | every mon wed fri
           | every other friday | every 15th | every 3rd friday | on the 1st of every month
           | every last day of the month | every! 3 days (after completion)
           | ... until DAY | ... N times"""


def tutorial():
    for text, commands in TUTORIAL:
        yield f".PP\n{escaped(text)}\n.PP\n.nf\n" + "\n".join("  " + escaped(line) for line in commands) + "\n.fi\n"


def grammar(title, lead, text):
    return f".SH {title}\n{escaped(lead)}\n.PP\n.nf\n{escaped(text)}\n.fi\n"


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
    text += ".SH TUTORIAL\n" + "".join(tutorial())
    text += ".SH DESCRIPTION\n" + "".join(paragraphs(about.strip("\n")))
    text += ".SH OPTIONS\nEvery command takes these, before or after its name.\n" + "".join(options(root["arguments"]))
    text += ".SH COMMANDS\n"
    for command in root["subcommands"]:
        if command["shouldDisplay"] and command["commandName"] != "help":
            text += command_section(command, [], shared)
    text += grammar(
        "FILTERS", "find, count, stats, completed, export and --where take a filter. Words stand for themselves; a value with "
        "blanks needs double quotes inside the shell's. No shell changes +tag, @tag, p:high and due.before:friday.", FILTERS)
    text += grammar("DATES", "Wherever a day or a time is asked for, and in the sentences of quick.", DATES)
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
