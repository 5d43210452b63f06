#!/usr/bin/env python3
"""
usage: update.py CASE FIRST SECOND FOLDER...
Write the expectations of a command case anew: CASE.stdout.exact from FIRST.out, and the lines of CASE.stderr.glob that FIRST.err does
not match, each among those of the same assertion ("== SENTENCE", see check.sh). The pattern of a line that still matches is kept.
Another pattern gets the new text, and keeps its wildcards where they stood. SECOND is another run of the case: text that differs
between both runs, and the names of the FOLDERs, become '*' in a pattern. Standard output has no wildcards, so it is refused where it
differs. Prints what was written; exits 1 if something was refused.
"""
import difflib
import re
import sys

WORD = re.compile(r"[^\s'\",:;()]+|.")


def parse(pattern):
    """Tokens of a shell pattern: (source, regular expression of one character, or None for '*')."""
    tokens = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        end = pattern.find("]", i + 3 if pattern[i + 1:i + 2] in ("!", "^") else i + 2) if c == "[" else -1
        if c == "\\" and i + 1 < len(pattern):
            tokens.append((pattern[i:i + 2], re.escape(pattern[i + 1])))
            i += 2
        elif c == "*":
            tokens.append((c, None))
            i += 1
        elif c == "?":
            tokens.append((c, "."))
            i += 1
        elif end > 0:
            inner = pattern[i + 1:end]
            inverted = inner[0] in "!^"
            inner = inner[inverted:].replace("\\", "\\\\").replace("[", "\\[")
            tokens.append((pattern[i:end + 1], "[" + "^" * inverted + inner + "]"))
            i = end + 1
        else:
            tokens.append((c, re.escape(c)))
            i += 1
    return tokens


def matches(pattern, line):
    return re.fullmatch("".join(".*" if r is None else r for _, r in parse(pattern)), line, re.S) is not None


def escape(c):
    return "\\" + c if c in "*?[\\" else c


def is_literal(token):
    return token[0] not in ("*", "?") and token[0][0] != "["


def text_of(pattern):
    return "".join(source[-1] for source, r in parse(pattern) if is_literal((source, r)))


def variable_characters(line, other, folders):
    """Return which characters of the line belong to words that differ in the other run, or to names of folders."""
    variable = [False] * len(line)
    words = [(m.start(), m.end()) for m in WORD.finditer(line)]
    of_line = [line[a:b] for a, b in words]
    for kind, a, b, _, _ in difflib.SequenceMatcher(None, of_line, WORD.findall(other), False).get_opcodes():
        if kind != "equal" and b > a:
            variable[words[a][0]:words[b - 1][1]] = [True] * (words[b - 1][1] - words[a][0])
    for folder in folders:
        at = line.find(folder)
        while at >= 0:
            variable[at:at + len(folder)] = [True] * len(folder)
            at = line.find(folder, at + 1)
    return variable


def merge(pattern, line, variable, strict=False):
    """
    Return the new line as a pattern with the wildcards of the old one: the cheapest way to turn the text of the old pattern into the
    line. Words with digits and names of files cost nothing under a '*'. To write a character out costs more than to leave it to a '*'
    beside it, but less than to drop one of the old text as well, so that words take the place of words. Text that varies becomes a '*',
    with strict even where the old pattern had the same text.
    """
    tokens = parse(pattern)
    free = [False] * len(line)
    for m in WORD.finditer(line):
        if re.search(r"[0-9/]", m.group()) or any(variable[m.start():m.end()]):
            free[m.start():m.end()] = [True] * (m.end() - m.start())

    def price(star, j):
        return 0.3 if star == len(tokens) - 1 and not variable[j] else 0.01 if free[j] else 0.4

    def splits_word(j):
        return 1.5 if 0 < j and line[j - 1].isalnum() and line[j].isalnum() else 0.0

    # States: 0 the last character was matched, 1 written out, 2 within the star i, 3 behind a star.
    infinite = float("inf")
    rows, columns = len(tokens) + 1, len(line) + 1
    cost = [[[infinite] * 4 for _ in range(columns)] for _ in range(rows)]
    origin = [[[None] * 4 for _ in range(columns)] for _ in range(rows)]
    cost[0][0][0] = 0.0

    def step(i, j, state, at, more, text):
        new = cost[at[0]][at[1]][at[2]] + more
        if new < cost[i][j][state]:
            cost[i][j][state] = new
            origin[i][j][state] = (at, text)

    for i in range(rows):
        for j in range(columns):
            at = (i, j, 2)
            if cost[i][j][2] < infinite:
                step(i + 1, j, 3, at, 0.0, "")
                if j < len(line):
                    step(i, j + 1, 2, at, price(i, j), "")
            for state in (0, 1, 3):
                at = (i, j, state)
                if cost[i][j][state] == infinite:
                    continue
                new = "*" if j < len(line) and variable[j] else escape(line[j]) if j < len(line) else ""
                if j < len(line):
                    step(i, j + 1, 1, at, 0.5 + (splits_word(j) if state == 3 else 0.0), new)
                if i == len(tokens):
                    continue
                source, regex = tokens[i]
                if regex is None:
                    step(i + 1, j, state, at, 0.3, "*")
                    if j < len(line):
                        step(i, j + 1, 2, at, price(i, j) + (splits_word(j) if state == 1 else 0.0), "*")
                    continue
                step(i + 1, j, state, at, 0.7 if is_literal(tokens[i]) else 1.0, "")
                if j < len(line) and re.fullmatch(regex, line[j], re.S):
                    # A single letter that happens to be the same is no match of words.
                    step(i + 1, j + 1, 0, at, splits_word(j) / 2 if state == 1 else 0.0, "*" if strict and variable[j] else source)
                if j < len(line) and is_literal(tokens[i]):
                    step(i + 1, j + 1, 1, at, 0.7 + (splits_word(j) if state == 3 else 0.0), new)
    at = min(((rows - 1, columns - 1, state) for state in (0, 1, 3)), key=lambda a: cost[a[0]][a[1]][a[2]])
    pieces = []
    while origin[at[0]][at[1]][at[2]]:
        at, text = origin[at[0]][at[1]][at[2]]
        pieces.append(text)
    joined = []
    for piece in reversed(pieces):
        if piece and not (piece == "*" and joined and joined[-1] == "*"):
            joined.append(piece)
    return "".join(joined)


def align(patterns, lines, is_open):
    """Return pairs (pattern or None, line or None) in order, with few changes, and each line beside the pattern most like it."""
    def distance(pattern, line):
        if matches(pattern, line):
            return 0.0
        return 0.1 + 1.3 * (1 - difflib.SequenceMatcher(None, text_of(pattern), line, False).ratio())

    rows, columns = len(patterns) + 1, len(lines) + 1
    cost = [[0.0] * columns for _ in range(rows)]
    way = [[(0, 0)] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            ways = []
            if i and j:
                ways.append((cost[i - 1][j - 1] + distance(patterns[i - 1], lines[j - 1]), (1, 1)))
            if i:
                ways.append((cost[i - 1][j] + 0.7, (1, 0)))
            if j:
                ways.append((cost[i][j - 1] + (0.0 if is_open and i == rows - 1 else 0.7), (0, 1)))
            if ways:
                cost[i][j], way[i][j] = min(ways)
    pairs = []
    i, j = rows - 1, columns - 1
    while i or j:
        down, right = way[i][j]
        pairs.append((patterns[i - 1] if down else None, lines[j - 1] if right else None, j - 1))
        i, j = i - down, j - right
    return pairs[::-1]


def read(name):
    with open(name, encoding="latin-1", newline="") as file:
        return file.read()


def split(text):
    return text.split("\n")[:-1] if text.endswith("\n") or not text else None


def write(name, text):
    with open(name, "w", encoding="latin-1", newline="") as file:
        file.write(text)


def sections(lines):
    """The lines of each assertion, by the line that begins it; None begins what comes before the first."""
    found, at = {None: []}, None
    for line in lines:
        if line.startswith("== "):
            at = line
            found[at] = []
        else:
            found[at].append(line)
    return found


def adopt(old, new):
    """Give the patterns of sentences that are gone to the new sentences: one for one, or each to the line that is most like it."""
    gone = [sentence for sentence in old if not new.get(sentence) and (sentence is None or sentence not in new)]
    fresh = [sentence for sentence in new if sentence not in old]
    if len(gone) == len(fresh):
        for sentence, other in zip(gone, fresh):
            old[other] = old.pop(sentence)
        return
    pool = [pattern for sentence in gone for pattern in old.pop(sentence) if pattern != "..."]
    lines = [(sentence, line) for sentence in fresh for line in new[sentence]]
    for pattern, line, j in align(pool, [line for _, line in lines], False):
        if pattern is not None and line is not None:
            old.setdefault(lines[j][0], []).append(pattern)


def update_section(patterns, lines, others, folders):
    """The new patterns of one assertion, how many changed, and why they cannot be written."""
    is_open = "..." in patterns
    if is_open:
        patterns = patterns[:patterns.index("...")]
    if not is_open and len(others) != len(lines):
        return None, 0, "standard error has another number of lines in a second run"
    written, changed = [], 0
    for pattern, line, j in align(patterns, lines, is_open):
        if line is None:
            changed += 1
            continue
        if pattern is None:
            if is_open and len(written) >= len(patterns):
                break  # among those that "..." stands for
            pattern, new = "", True
        else:
            new = False
        other = others[j] if j < len(others) else line
        if new or not matches(pattern, line):
            old, variable = pattern, variable_characters(line, other, folders)
            pattern = merge(old, line, variable)
            if not matches(pattern, other):
                pattern = merge(old, line, variable, True)
            changed += 1
            if not matches(pattern, line) or not matches(pattern, other):
                return None, 0, f"a line of standard error differs from run to run: {line}"
        written.append(pattern)
    return written + ["..."] * is_open, changed, None


def update_stderr(name, first, second, folders):
    lines, others = split(read(first)), split(read(second))
    patterns = split(read(name))
    if lines is None or patterns is None:
        return None, "standard error does not end with a new line"
    old, other = sections(patterns), sections(others or [])
    adopt(old, sections(lines))
    text, changed = "", 0
    for sentence, section in sections(lines).items():
        new, count, why = update_section(old.pop(sentence, []), section, other.get(sentence, []), folders)
        if why:
            return None, why
        changed += count
        text += "".join(line + "\n" for line in ([sentence] if sentence and new else []) + new)
    changed += sum(len(rest) for rest in old.values())
    write(name, text)
    return changed, None


def main():
    case, first, second, folders = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    said, refused = [], []
    try:
        expected = read(case + ".stdout.exact")
        out = read(first + ".out")
        if out != expected:
            if out != read(second + ".out"):
                refused.append("standard output differs from run to run")
            else:
                write(case + ".stdout.exact", out)
                said.append("standard output")
    except FileNotFoundError:
        pass
    try:
        changed, why = update_stderr(case + ".stderr.glob", first + ".err", second + ".err", folders)
        if why:
            refused.append(why)
        elif changed:
            said.append(f"{changed} line{'s'[:changed != 1]} of standard error")
    except FileNotFoundError:
        pass
    if said:
        print("# written: " + ", ".join(said))
    for why in refused:
        print("# not written: " + why)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
