#!/usr/bin/env python3
"""Find words that readers stumble over, and print what to use instead.

usage: words.py               check the headers, messages, help texts and pages of this folder
       words.py FILE...       check only these files
       words.py --names       also count the public names that are still to be renamed; they do not fail yet
       words.py --self-test   put each kind of fault into a text and expect a report of each

Four kinds of text are checked:
  H  the comments of the public headers (include/airy)
  M  messages, help texts and texts of man pages: the string literals of sources (src, tools, bench) that have a space
  D  pages (docs, README.md, CONTRIBUTING.md), without code blocks and `code`
  N  NEWS.md, in the same way

A finding is a line "FILE:LINE: TERM: use ...". The exit code is 1 where there is one.
"""

import os
import re
import subprocess
import sys

EVERYWHERE = "HMDN"
BE = r"(?:is|are|was|were|be|been|being)"

# (a regular expression, what to use instead, the kinds of text). Only forms that are wrong in every sentence are here: "ring" is right
# for a powder ring, "standard" before "deviation", "background" of an image. Letters are compared without case.
TERMS = [
    (r"say|says|said|saying", "print, report, warn (programs); state, give, name, specify (files, values)", EVERYWHERE),
    (r"tell|tells|told|telling", "report, name, show, determine; \"distinguish\" for \"tell apart\"", EVERYWHERE),
    (r"the wire", "PCIe bandwidth, NVLink bandwidth, the network", EVERYWHERE),
    (r"half[- ]made", "partial, temporary", EVERYWHERE),
    (r"fates?", "frame result", EVERYWHERE),
    (r"wish|wishes|wished", "options, request", EVERYWHERE),
    (r"doubts?", "warnings", EVERYWHERE),
    (r"(?:its|their|whose|my|a|the) turn\b(?! (?:of|about|about the beam)\b)(?= (?:comes?|is|behind|ends|begins))|by turns|take turns|"
     r"takes turns|took turns|stores? the turn", "sequence number; alternate; one after another", EVERYWHERE),
    (r"lose (?:a |an |the )?(?:frames?|images?|messages?|rows?)|loses (?:frames?|images?|messages?|rows?)|"
     r"lost (?:frames?|images?|messages?|rows?)|(?:frames?|images?|messages?|rows?)(?: that)? (?:is|are|was|were|get|gets) lost|mark\w* lost",
     "missing frames, mark missing", EVERYWHERE),
    (r"(?<!a )(?<!their )carry|carries|carried|carrying", "per-frame metadata; copy, contain, hold", EVERYWHERE),
    (r"zigzag", "snake scan", EVERYWHERE),
    (r"claim|claims|claimed", "next rows (of the work queue); state", EVERYWHERE),
    (r"enlarge|enlarges|enlarged", "repeat (as numpy.repeat)", EVERYWHERE),
    (r"learn|learns|learned|learnt", "estimate", EVERYWHERE),
    (r"rehearse\w*|rehearsal", "warm up", EVERYWHERE),
    (r"near words?", "suggest, the closest match", EVERYWHERE),
    (r"the same, but", "one sentence that makes sense alone", EVERYWHERE),
    (r"the same of", "name the operation again", EVERYWHERE),
    (r"likewise", "one sentence that makes sense alone", EVERYWHERE),
    (r"these, too", "name the things", EVERYWHERE),
    (r", too(?=[.;:)\"]|$)", "\"also\" in front of the verb", "M"),
    (r"who lives", "which processes run", EVERYWHERE),
    (r"(?<=[.] )who|^who(?= [^?]*$)", "a noun: \"a program that ...\"", EVERYWHERE),
    (r"seats?", "worker slot", EVERYWHERE),
    (r"(?<!key)boards?", "shared state", EVERYWHERE),
    (r"stopped (?:after|before|by|while)|" + BE + r" stopped", "cancelled", "M"),
    (r"frames in lanes|lanes? of (?:a )?vectors?|lanes? of SIMD", "vector elements", EVERYWHERE),
    (r"(?:shared|producer's) ring(?! buffer)|ring of (?:buffers|batches|slots|frames)|shared memory ring", "ring buffer", EVERYWHERE),
    (r"rings?[^.]{0,40}\bfit the others", "unmatched rings", EVERYWHERE),
    (r"the standard (?:value|one|of this device)|standard: the default(?! value)", "default value", EVERYWHERE),
    (r"lend|lends|lent|lending", "submit external memory; provide, pass", EVERYWHERE),
    (r"kernel as is", "no normalisation of the kernel", EVERYWHERE),
    (r"whole pixels", "pixel-centre sums", "HM"),
    (r"project(?:s|ed|ion)? by boxes", "block reduce (rebin)", EVERYWHERE),
    (r"stencils? alone", "stencil filter", EVERYWHERE),
    (r"takes? (?:a |the )?planes?", "select plane", "HM"),
    (r"proof of (?:a |the )?resume", "fingerprint", EVERYWHERE),
]

# Names of the public API and of options that the glossary renames. They are not counted yet: each family is renamed in one commit, which
# moves its names out of this list. The old spellings of options stay as aliases for one release.
NAMES = [
    ("airy_live_lose", "airy_live_mark_missing"),
    ("AIRY_JOB_EVENT_LOST", "AIRY_JOB_EVENT_MISSING"),
    ("airy_calibration.doubts, AIRY_CALIBRATE_*", "warnings"),
    ("airy_stack_params.lost, lost_frames", "missing"),
    ("carried, carried_count, airy_carried", "metadata"),
    ("zigzag", "snake"),
    ("airy_ring_create, airy_ring_destroy", "airy_ringbuf_create, airy_ringbuf_destroy"),
    ("airy_tuning.standard", "fallback"),
    ("airy_oct_stream_take, airy_oct_stream_give, airy_oct_stream_lend", "acquire, submit, submit_external"),
    ("airy_oct_learn", "airy_oct_estimate_background"),
    ("airy_device_start", "airy_device_get_startup_times"),
    ("airy_stream_handler.say", "report"),
    ("lend", "external"),
    ("stopped", "cancelled"),
]

# Members that bear such a name, where a sentence has to mention them.
MEMBERS = re.compile(r"airy_calibration\.doubts|(?:grid|parts), (?:\* )?claim(?=, )|params->claim|stack, make and lend|\(claim\)|@param lent")

RULES = [(re.compile(r"(?:(?<![\w-])|(?=,))(?:%s)(?![\w-])" % term, re.IGNORECASE), use, kinds) for term, use, kinds in TERMS]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
CODE = re.compile(r"^```.*?^```[^\n]*$|`[^`]*`|^(?: {4}|\t)[^\n]*$|https?://\S+|\]\([^)]*\)|<!--.*?-->", re.DOTALL | re.MULTILINE)
LICENSE = re.compile(r"SPDX|Copyright")


def blank(text):
    """Return as many spaces and line ends as the text has, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", text)


def comments(text):
    """Return the sentences of comments, each with its first line."""
    for match in COMMENT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        prose = re.sub(r"(?m)^[ \t]*(?:/\*+<?|\*+(?!/)|//+)[ \t]?|\*/", lambda mark: blank(mark.group()), match.group())
        yield line, re.sub(r"`[^`\n]*`", lambda code: blank(code.group()), prose)


def literals(text):
    """Return string literals; those that stand side by side are one text. Line ends between them are kept."""
    line, parts, end = 0, "", 0
    for match in C_TOKEN.finditer(text):
        token = match.group()
        if token[0] != '"':
            continue
        between = text[end:match.start()]
        if parts and not between.replace("\\\n", "").strip():
            parts += "\n" * between.count("\n") + token[1:-1]
        else:
            if parts:
                yield line, parts
            line, parts = text.count("\n", 0, match.start()) + 1, token[1:-1]
        end = match.end()
    if parts:
        yield line, parts


def pages(text):
    """Return the text of a page without code, one paragraph after another."""
    text = CODE.sub(lambda code: blank(code.group()), text)
    line = 1
    for paragraph in re.split(r"(\n[ \t]*\n)", text):
        yield line, paragraph
        line += paragraph.count("\n")


def kind_of(path):
    if path == "NEWS.md":
        return "N"
    if path.endswith(".md"):
        return "D"
    return "H" if path.startswith("include/") else "M"


def find(path, text):
    """Return the reports of a text."""
    kind = kind_of(path)
    units = {"H": comments, "M": literals}.get(kind, pages)(text)
    reports = []
    for line, unit in units:
        if kind == "M" and " " not in unit.strip() or LICENSE.search(unit):
            continue
        # A term may be cut by the end of a line or of a literal; a space there has the length of what it stands for.
        flat = re.sub(r"\s", " ", unit)
        if kind == "M":
            flat = re.sub(r"\\[nt]", "  ", flat)
        flat, places = squeeze(flat)
        flat = MEMBERS.sub(lambda member: blank(member.group()), flat)
        for rule, use, kinds in RULES:
            if kind in kinds:
                for match in rule.finditer(flat):
                    at = line + unit.count("\n", 0, places[match.start()])
                    reports.append((path, at, match.group().strip(), use))
    return sorted(set(reports))


def squeeze(text):
    """Return the text with single spaces, and the place in the old text of each character of it and of its end."""
    out, places = [], []
    for place, char in enumerate(text):
        if char == " " and out and out[-1] == " ":
            continue
        out.append(char)
        places.append(place)
    return "".join(out), places + [len(text)]


def listed(root):
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "include", "src", "tools", "bench", "docs", "*.md"],
                           cwd=root, stdout=subprocess.PIPE, encoding="utf-8", check=False).stdout.split("\n")
    if len(names) < 2:  # no repository: an unpacked release
        names = [os.path.relpath(os.path.join(folder, name), root) for top in ("include", "src", "tools", "bench", "docs")
                 for folder, _, files in os.walk(os.path.join(root, top)) for name in files] + ["README.md", "NEWS.md", "CONTRIBUTING.md"]
    keep = []
    for name in sorted(names):
        page = name.endswith(".md") and (name.startswith("docs/") or name in ("README.md", "NEWS.md", "CONTRIBUTING.md"))
        source = name.endswith((".c", ".h")) and name.startswith(("include/", "src/", "tools/", "bench/"))
        # The page of terms names the words that are not used.
        if (page or source) and name != "docs/terms.md" and os.path.exists(os.path.join(root, name)):
            keep.append(name)
    return keep


def self_test():
    cases = [
        ("include/airy/a.h", "/** Which is said. */", 1),
        ("include/airy/a.h", "/**\n * The same\n * of many. */\nint say(void);", 1),
        ("include/airy/a.h", "int doubts; /**< `carry`, airy_live_lose */", 0),
        ("src/a.c", 'f("the frame is "\n  "lost"); /* it says so */ g("lost");', 1),
        ("src/a.c", 'f("sets the title", "writes NXazint, too"); h("as \\"said\\"");', 2),
        ("docs/a.md", "It `says` so.\n\n    it says so\n\nA frame that\nis lost, on the\nwire.", 2),
        ("docs/a.md", "The standard deviation of a ring; one after another in turn.", 0),
    ]
    failed = 0
    for path, text, wanted in cases:
        reports = find(path, text)
        if len(reports) != wanted:
            failed += 1
            print("FAILED: %r: %d findings, expected %d: %s" % (text, len(reports), wanted, reports))
    print("%d cases, %d failed" % (len(cases), failed))
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = arguments == ["--names"]
    if not names and any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    paths = listed(root) if names or not arguments else [os.path.relpath(os.path.abspath(path), root) for path in arguments]
    count = 0
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for report in find(path, file.read()):
                print("%s:%d: %s: use %s" % report)
                count += 1
    if names:
        for old, new in NAMES:
            print("later: %s: use %s" % (old, new))
    print("%d files, %d terms" % (len(paths), count))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
