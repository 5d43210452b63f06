#!/usr/bin/env python3
"""Check that the code keeps its layers and that no files need each other in a circle.

usage: layers.py BUILD               check the sources of this folder and the object files of BUILD
       layers.py --self-test BUILD   put faults into a copy of the sources and expect a report of each

A file needs another file if it includes it, or if it uses a function or a variable that the other file defines. Includes are those
of all files in include, src, tools and bench; symbols are those of the object files of BUILD (nm). A header needs what it includes, not
the file of its name: a group of files may share one header.

Three things fail:
  - a folder needs another folder that its row in LAYERS does not name;
  - several files need each other in a circle;
  - an entry of EXCEPTIONS is no longer needed.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# A folder and the folders that it may need, lowest first; each folder may need itself, and all but shared may include the public
# headers (include/airy). In words:
#   - base knows no device, no file format and no operation. core knows devices, queues and arrays, but no operation.
#   - shared holds headers that are valid C11 and valid OpenCL C, so it needs nothing.
#   - A family (codec to sources) defines its operations: it checks arguments, fills in defaults and plans the work. It reaches a
#     back end only through the table of functions in core/backend.h, and it reads and writes no files.
#   - A back end (cpu, opencl) executes the operations of all families but sources, which calls the operations of other families.
#     Neither back end knows the other one.
#   - io reads files into host memory and writes them from it; it knows no device. stream does the same with messages of a detector.
#   - engine moves frames from where they come from to where they go; it knows no operation but decoding: what is done with frames
#     on devices is a table of functions that a job gives it.
#   - pipeline gives families to the engine. stream and pipeline do not know each other.
#   - jobs gives names to what users come for: it reads files, calls operations and runs, and writes results.
#   - A tool includes the public headers and its own headers, nothing else.
FAMILIES = ["codec", "fft", "element", "reduce", "label", "filter", "background", "integrate", "peaks", "oct", "sources"]
LAYERS = {
    "include": [],
    "src/shared": [],
    "src/base": [],
    "src/core": ["base", "shared"],
    "src/codec": ["base", "shared", "core"],
    "src/fft": [],
    "src/element": ["base", "shared", "core"],
    "src/reduce": ["base", "shared", "core"],
    "src/label": ["base", "shared", "core"],
    "src/filter": ["base", "shared", "core", "element", "reduce"],
    "src/background": ["base", "shared", "core", "reduce"],
    "src/integrate": ["base", "shared", "core", "codec"],
    "src/peaks": ["base", "shared", "core", "integrate"],
    "src/oct": ["base", "shared", "core", "fft"],
    "src/sources": ["base", "shared", "core", "element", "reduce", "label", "filter"],
    "src/cpu": ["base", "shared", "core"] + FAMILIES[:-1],
    "src/opencl": ["base", "shared", "core"] + FAMILIES[:-1],
    "src/io/file": ["base"],
    "src/io/ipc": ["base"],
    "src/io/hdf5": ["base", "codec", "io/file"],
    "src/io/image": ["base", "codec", "io/file", "io/hdf5"],
    "src/io/table": ["base", "io/file", "io/image"],
    "src/io/oct": ["base", "io/file", "io/image"],
    "src/io/sparse": ["base", "integrate", "io/file", "io/hdf5"],
    "src/io/result": ["base", "integrate", "io/file", "io/hdf5"],
    "src/io/stack": ["base", "codec", "integrate", "io/file", "io/hdf5", "io/image"],
    "src/io": ["base", "integrate", "io/file", "io/hdf5", "io/image", "io/stack"],
    "src/io/geometry": ["base", "integrate", "io", "io/file", "io/hdf5", "io/stack"],
    "src/stream": ["base", "shared", "codec", "integrate"],
    "src/engine": ["base", "shared", "core", "codec", "io/file", "io/hdf5", "io/stack"],
    "src/pipeline": ["base", "shared", "core", "engine", "io/file", "io/stack", "io/sparse", "io/result"] + FAMILIES,
    "src/jobs": ["base", "core", "codec", "reduce", "integrate", "oct", "peaks", "engine", "io", "io/file", "io/geometry", "io/hdf5", "io/image", "io/ipc", "io/oct", "io/result", "io/sparse", "io/stack", "pipeline", "element", "label", "io/table", "background", "filter", "sources", "stream"],
    "tools/airy/cli": [],
    "tools/airy/plot": ["cli"],
    "tools/airy/images": ["cli", "plot"],
    "tools/airy/result": ["cli", "plot"],
    "tools/airy/integrate": ["cli", "plot", "images", "result"],
    "tools/airy/oct": ["cli", "plot", "images", "integrate"],
    "tools/airy/cmd": ["cli", "plot", "images", "result", "integrate", "oct"],
    "bench": ["cli", "plot"],
    "tools/airy": ["cli", "cmd", "result", "integrate", "oct"],
}

# (file, another file that it may need in spite of the rules, the reason). An entry is an error if nothing fails without it.
EXCEPTIONS = [
    ("src/core/device.c", "src/cpu/cpu_backend.c", "the list of back ends: core names each of them here and nowhere else"),
    ("src/core/device.c", "src/opencl/cl_backend.c", "the list of back ends: core names each of them here and nowhere else"),
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def folder_of(file):
    """Return the folder of LAYERS that a file lies in, or the file's own folder if there is none."""
    folder = os.path.dirname(file)
    while folder and folder not in LAYERS:
        folder = os.path.dirname(folder)
    return folder or os.path.dirname(file)


def read_includes(root, needs):
    texts = {}
    for top in ("include", "src", "tools", "bench"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h", ".cl")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        texts[os.path.relpath(path, root)] = file.read()
    for file, text in texts.items():
        for name in INCLUDE.findall(text):
            for place in (os.path.dirname(file), "src", "tools/airy", "include"):
                other = os.path.normpath(os.path.join(place, name))
                if other in texts:
                    needs[file][other].add("#include")
                    break
    return set(texts)


def read_commands(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        return json.load(file)


def read_symbols(root, build, commands, needs):
    """Add what object files use of each other, and return the files that are compiled."""
    objects = {}
    for command in commands:
        source = os.path.realpath(os.path.join(command["directory"], command["file"]))
        for top in (build, root):
            file = os.path.relpath(source, top)
            if file.startswith(("src/", "tools/", "bench/")):
                objects[os.path.join(command["directory"], command["output"])] = file
                break
    missing = [name for name in objects if not os.path.exists(name)]
    if missing:
        sys.exit("layers.py: %s is not built completely: %d object files are missing, %s first" % (build, len(missing), missing[0]))
    listing = subprocess.run(["nm", "-A", "-P", "-g", *objects], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    defined, used = {}, []
    for line in listing.splitlines():
        name, symbol = line.split(": ", 1)
        symbol, kind = symbol.split()[:2]
        # Tools call the library through its public headers, so it does not matter which of its files they reach.
        key = (objects[name].startswith("src/"), symbol)
        if kind in "Uw":
            used.append((objects[name], key))
        else:
            defined[key] = objects[name]
    for file, key in used:
        if key in defined:
            needs[file][defined[key]].add(key[1])
    return set(objects.values())


def reachable(start, needs):
    """Return each file that start needs, directly or through others, with the file before it on a shortest path."""
    before, queue = {}, collections.deque([start])
    while queue:
        file = queue.popleft()
        for other in sorted(needs.get(file, ())):
            if other not in before:
                before[other] = file
                queue.append(other)
    return before


def circles(needs):
    """Return the files of each circle, and loops that are as short as possible and together touch all of these files."""
    ways = {file: reachable(file, needs) for file in needs}
    found, done = [], set()
    for file in sorted(needs):
        if file in done or file not in ways[file]:
            continue
        members = {other for other in ways[file] if file in ways.get(other, ())}
        done |= members
        loops, touched = [], set()
        for member in sorted(members):
            if member not in touched:
                loop = [ways[member][member], member]
                while loop[0] != member:
                    loop.insert(0, ways[member][loop[0]])
                touched.update(loop)
                loops.append(loop)
        found.append((members, loops))
    return found


def describe(file, other, needs):
    names = sorted(needs[file][other])
    more = ", and %d more" % (len(names) - 4) if len(names) > 4 else ""
    return "%s needs %s: %s%s" % (file, other, ", ".join(names[:4]), more)


def breaks_layer(file, other):
    folder, target = folder_of(file), folder_of(other)
    public = [] if folder == "src/shared" else ["include"]
    beside = "src/" if folder.startswith("src/") else "tools/airy/"
    return target not in [folder] + public + [os.path.normpath(beside + name) for name in LAYERS.get(folder, ())]


def check(root, build, exceptions, commands=None):
    """Return the reports and the number of files. commands: those of BUILD if there are no others."""
    root, build = os.path.realpath(root), os.path.realpath(build)
    needs = collections.defaultdict(lambda: collections.defaultdict(set))
    files = read_includes(root, needs)
    compiled = read_symbols(root, build, commands or read_commands(build), needs)
    reports = []
    for folder in sorted({folder_of(file) for file in files} - set(LAYERS)):
        reports.append("layer: the folder %s has no row in LAYERS of scripts/layers.py" % folder)

    used = [pair for *pair, _ in exceptions if needs[pair[0]].pop(pair[1], None)]
    for *pair, _ in exceptions:
        # An entry cannot be judged if this build leaves out one of its files (a missing library, another processor).
        if any(file.endswith(".c") and file in files - compiled for file in pair):
            continue
        if pair not in used or not (breaks_layer(*pair) or pair[0] in reachable(pair[1], needs)):
            reports.append("exception: %s may need %s, but nothing fails without this entry: remove it" % tuple(pair))

    for file in sorted(needs):
        for other in sorted(needs[file]):
            if breaks_layer(file, other):
                reports.append("layer: %s must not need %s: %s" % (folder_of(file), folder_of(other), describe(file, other, needs)))
    for members, loops in circles(needs):
        lines = ["circle of %d files: %s" % (len(members), " ".join(sorted(members)))]
        for loop in loops:
            lines += ["    " + describe(file, other, needs) for file, other in zip(loop, loop[1:])] + [""]
        reports.append("\n".join(lines[:-1]))
    return reports, len(files)


def self_test(root, build):
    """Put one fault after another into a copy of the sources; each must give the report that it adds, and no other one."""
    root, build = os.path.realpath(root), os.path.realpath(build)
    failed = 0
    commands = read_commands(build)
    with tempfile.TemporaryDirectory() as top:
        for folder in ("include", "src", "tools", "bench"):
            shutil.copytree(os.path.join(root, folder), os.path.join(top, folder))
        # The object files are not copied: the list of commands assigns those of BUILD to the copied sources.
        for command in commands:
            source = os.path.realpath(os.path.join(command["directory"], command["file"]))
            if os.path.relpath(source, build).startswith(".."):
                command["file"] = os.path.join(top, os.path.relpath(source, root))
        before = check(root, build, EXCEPTIONS)[0]

        def expect(name, pattern, texts=(), objects=(), exceptions=()):
            nonlocal failed
            listed, kept = list(commands), {}
            for path, text in texts:
                with open(os.path.join(top, path), encoding="utf-8") as file:
                    kept[path] = file.read()
                with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                    file.write(kept[path] + text + "\n")
            for path, text in objects:
                source, output = os.path.join(top, path), os.path.join(top, os.path.basename(path) + ".o")
                os.makedirs(os.path.dirname(source), exist_ok=True)
                with open(source, "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                subprocess.run([*os.environ.get("CC", "cc").split(), "-c", source, "-o", output], check=True)
                listed.append({"directory": top, "file": source, "output": output})
            added = [report for report in check(top, build, EXCEPTIONS + list(exceptions), listed)[0] if report not in before]
            for path, text in kept.items():
                with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                    file.write(text)
            for path, _ in objects:
                os.remove(os.path.join(top, path))
            good = len(added) == 1 and re.search(pattern, added[0], re.DOTALL) if pattern else not added
            failed += not good
            print("%s: %s" % ("ok" if good else "FAILED", name))
            if not good:
                print("\n".join(added) or "nothing was reported")

        one, two = "int one(void); int one(void) { %s; }", "int one(void), two(void); int two(void) { %s; }"
        expect("an unchanged copy", None)
        expect("an include of a higher layer", r"^layer: src/base must not need src/core: src/base/md5.c needs src/core/backend.h: #include$",
               texts=[("src/base/md5.c", '#include "core/backend.h"')])
        expect("an include of the library's inside in a tool", r"^layer: tools/airy must not need src/base: tools/airy/main.c needs ",
               texts=[("tools/airy/main.c", '#include "../../src/base/md5.h"')])
        expect("a use of a function of a higher layer", r"^layer: src/base must not need src/io/file: .* needs src/io/file/two.c: two$",
               objects=[("src/base/one.c", one % "int two(void); return two()"), ("src/io/file/two.c", two % "return 2")])
        expect("a circle of includes", r"^circle of 2 files: .*/md5.h needs src/base/word.h: #inc.*/word.h needs src/base/md5.h: #inc",
               texts=[("src/base/md5.h", '#include "base/word.h"'), ("src/base/word.h", '#include "base/md5.h"')])
        expect("a circle of calls", r"^circle of 2 files: .*/one.c needs src/base/two.c: two\n.*/two.c needs src/base/one.c: one$",
               objects=[("src/base/one.c", one % "int two(void); return two()"), ("src/base/two.c", two % "return one()")])
        expect("calls that run one way", None,
               objects=[("src/base/one.c", one % "int two(void); return two()"), ("src/base/two.c", two % "return 2")])
        expect("an exception that is not needed", r"^exception: src/base/md5.c may need src/base/word.c, but ",
               exceptions=[("src/base/md5.c", "src/base/word.c", "none")])
        expect("a folder without a row", r"^layer: the folder src/new has no row", objects=[("src/new/new.c", "int three = 3;")])
    return failed


def main(arguments):
    testing = arguments[:1] == ["--self-test"]
    if len(arguments) != 1 + testing or arguments[-1].startswith("-"):
        sys.exit(__doc__)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if testing:
        return 1 if self_test(root, arguments[-1]) else 0
    reports, count = check(root, arguments[-1], EXCEPTIONS)
    for report in reports:
        print(report)
    print("%d files, %d exceptions, %d faults" % (count, len(EXCEPTIONS), len(reports)))
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
