#!/usr/bin/env python3
"""Try what the pages show: links, anchors, commands, programs and pictures.

usage: pages.py BUILD [--keep] [PAGE...]      PAGE: such as docs/start-oct.md (default: all pages)

Prints TAP, a case for the links of each page and one for the commands of each page that has some. Of a page are run, in order and
in one scratch folder, the blocks between ```sh fences; a block of ```text behind one is what appears: each of its lines is a line of
the output, whatever its numbers are; '...' stands for anything. A line in front of a fence changes what is done with the block:
    <!-- file: NAME -->        the block is written into this file of the scratch folder (any language)
    <!-- not run: WHY -->      its commands and options only have to exist, as those of blocks that are indented by four blanks
    <!-- needs: NAME... -->    the page is skipped where this program, or 'stream' in the build of airy, is missing
Pictures that a page with commands shows are made by its commands. --keep puts them into docs/pictures, half as large where they are
wider than 1,000 pixels and with no more colours than fit into 100 kB.
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import pictures  # noqa: E402  (beside this file)

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 100_000
FOLDERS = ("*.md", "docs/*.md", "bench/RESULTS.md", "tests/cli/README.md")


class Wrong(Exception):
    pass


class Skipped(Exception):
    pass


def blocks_of(text):
    """Yield (language, mark, body) of fenced blocks, and ("indented", "", body) of indented ones; mark: what the comment says."""
    mark, fence, body = "", None, []
    for line in text.splitlines() + [""]:
        if fence is not None:
            if line.startswith("```"):
                yield fence, mark, "\n".join(body) + "\n"
                mark, fence, body = "", None, []
            else:
                body.append(line)
        elif line.startswith("    "):
            body.append(line[4:])
        else:
            if body:
                yield "indented", "", "\n".join(body) + "\n"
                body = []
            if line.startswith("```"):
                fence = line[3:].strip()
            elif line.startswith("<!--"):
                mark = line[4:].split("-->")[0].strip()
            elif line:
                mark = ""


def prose_of(text):
    """The page without its code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`]*`", lambda code: code.group().replace("](", "] ("), text, flags=re.S)


def anchors_of(text):
    """The anchors that a page's headings get from GitHub."""
    anchors = {}
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")
        count = anchors.get(name, 0)
        anchors[name] = count + 1
        if count:
            anchors[f"{name}-{count}"] = 1
    return anchors


def check_links(page):
    """Every file and every heading that a page links to is there; pictures of docs/pictures are small."""
    text = page.read_text()
    for target in re.findall(r"\]\(([^)\s]*)\)", prose_of(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        if not place.exists():
            raise Wrong(f"it links to {target}, which is not there")
        if anchor and anchor not in anchors_of(place.read_text()):
            raise Wrong(f"it links to {target}: no heading has this anchor")
        if place.parent.name == "pictures" and place.stat().st_size > LIMIT:
            raise Wrong(f"{name} has {place.stat().st_size} bytes, more than {LIMIT}")
    if page.name == "index.md":
        for other in sorted(page.parent.glob("*.md")):
            if other != page and f"({other.name}" not in text:
                raise Wrong(f"it does not link to {other.name}")


class Command:
    """The command that was built, and what its help lists."""

    def __init__(self, build):
        self.folder = (build / "tools" / "airy").resolve()
        self.helps = {}

    def run(self, *words):
        return subprocess.run([self.folder / "airy", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)

    def help_of(self, words):
        if words not in self.helps:
            result = self.run(*words, "--help")
            self.helps[words] = result.stdout if result.returncode == 0 else None
        return self.helps[words]

    def check_line(self, line):
        """The command and the options of a line exist."""
        for part in re.split(r"[|;&]+", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                continue
            while words and ("=" in words[0] or words[0] in ("mpirun", "srun", "-n", "time") or words[0].isdigit()):
                words.pop(0)
            if len(words) < 2 or words[0] != "airy" or not re.fullmatch(r"[a-z]+", words[1]):
                continue
            pair = len(words) > 2 and tuple(words[1:3])
            name = pair if pair and re.fullmatch(r"[a-z]+", pair[1]) and pair[0] in ("simulate", "oct") else (words[1],)
            text = self.help_of(name)
            if text is None:
                raise Wrong(f"there is no command 'airy {' '.join(name)}': {line}")
            for word in words[2:]:
                option = re.match(r"--[a-z][-a-z0-9]*", word)
                if option and not re.search(option.group() + r"(?![-a-z0-9])", text) and \
                        "unknown option" in self.run(*name, option.group()).stderr:  # aliases are not in the help
                    raise Wrong(f"'airy {' '.join(name)} --help' has no {option.group()}: {line}")


def plain(line):
    """A line with its numbers alike, whatever the prefix of their seconds and bytes is, and without what blanks line up."""
    line = " ".join(re.sub(r"[-+]?\d+(\.\d+)*(e[-+]?\d+)?", "#", line).split())
    return re.sub(r"# [kMGTmun]?(s|B|B/s)(?![\w/])", r"# \1", line)


def run_block(body, folder, environment):
    """Run a block; return what it printed. Ports of this machine are replaced by free ones, as other tests may have the page's."""
    for port in set(re.findall(r"tcp://127\.0\.0\.1:(\d+)", body)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            body = body.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free.getsockname()[1]}")
    with subprocess.Popen(["sh", "-e"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder, text=True,
                          env=environment, start_new_session=True) as shell:
        try:
            output, _ = shell.communicate(body, timeout=120)
        except subprocess.TimeoutExpired as late:
            os.killpg(shell.pid, signal.SIGKILL)
            raise Wrong(f"not done after 120 s:\n{body}") from late
    if shell.returncode:
        raise Wrong(f"exit code {shell.returncode} of\n{body}{output}")
    return output


def check_output(expected, output):
    """Each line of what the page shows appears; '...' stands for anything."""
    have = [plain(line) for line in output.splitlines()]
    for line in expected.splitlines():
        wanted = re.compile(".*".join(re.escape(part) for part in plain(line).split("...")))
        if line.strip() and not any(wanted.fullmatch(one) for one in have):
            raise Wrong(f"the page shows a line that does not appear:\n{line}\nThis appears:\n{output}")


def check_need(name, command):
    if name == "stream":
        if command.help_of(("stream",)) is None:
            raise Skipped("this build has no streams")
    elif not shutil.which(name):
        raise Skipped(f"{name} is not installed")


def check_commands(page, command, build, keep):
    """Run the blocks of a page in a scratch folder."""
    environment = dict(os.environ, PATH=f"{command.folder}:{os.environ['PATH']}", AIRY_DEVICE="cpu", AIRY_CACHE_DIR="none",
                       LD_LIBRARY_PATH=str(build / "src"))
    text, output, ran = page.read_text(), "", False
    for name in " ".join(re.findall(r"^<!-- needs: (.*) -->$", text, flags=re.M)).split():
        check_need(name, command)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as package:
        (pathlib.Path(package) / "airy.pc").write_text(
            f"Name: airy\nDescription: as built\nVersion: 0\nCflags: -I{SOURCE}/include\nLibs: -L{build}/src -lairy\n")
        environment["PKG_CONFIG_PATH"] = package
        for language, mark, body in blocks_of(text):
            if mark.startswith("file: "):
                (pathlib.Path(folder) / mark[6:]).write_text(body)
            elif language == "sh" and not mark.startswith("not run"):
                for line in body.replace("\\\n", " ").splitlines():
                    command.check_line(line)
                output, ran = run_block(body, folder, environment), True
            elif language == "text":
                check_output(body, output)
            elif language in ("sh", "indented"):
                for line in body.replace("\\\n", " ").splitlines():
                    command.check_line(line)
        if ran:
            check_pictures(page, text, pathlib.Path(folder), keep)


def check_pictures(page, text, folder, keep):
    """A picture that a page with commands shows is made by one of them."""
    for name in re.findall(r"^!\[[^]]*\]\((?:docs/)?pictures/([^)]*)\)", text, flags=re.M):
        made = folder / name
        if not made.exists():
            raise Wrong(f"it shows pictures/{name}, which no command of it makes")
        if keep:
            pictures.keep(made, SOURCE / "docs" / "pictures" / name, LIMIT)


def main():
    words = [word for word in sys.argv[1:] if word != "--keep"]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    build, keep = pathlib.Path(words[0]).resolve(), "--keep" in sys.argv
    pages = [SOURCE / word for word in words[1:]] or sorted(page for folder in FOLDERS for page in SOURCE.glob(folder))
    command, number, failed = Command(build), 0, 0
    for page in pages:
        for kind, check in (("commands", lambda: check_commands(page, command, build, keep)), ("links", lambda: check_links(page))):
            number, words = number + 1, f"{page.relative_to(SOURCE)}: {kind}"
            try:
                check()
                print(f"ok {number} - {words}")
            except Skipped as why:
                print(f"ok {number} - {words} # SKIP {why}")
            except Wrong as why:
                failed += 1
                print(f"not ok {number} - {words}")
                print("".join(f"# {line}\n" for line in str(why).splitlines()), end="", flush=True)
    print(f"1..{number}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
