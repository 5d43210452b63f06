#!/usr/bin/env python3
"""Put the OpenCL kernels into a C file.

usage: embed_kernels.py OUT.c OUT.d SOURCE_ROOT PRELUDE.cl KERNEL.cl...

Each kernel becomes one text: the prelude, then the kernel, with every line of the form #include "shared/x.h" or
#include "opencl/kernels/x.h" replaced by that header of SOURCE_ROOT (the first time; later ones vanish). #line directives make the compiler name the files as they are here.
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:shared|opencl/kernels)/[A-Za-z0-9_]+\.h)"\s*$')
FOREIGN = re.compile(r"^\s*#\s*include\b")


def expand(path, name, root, seen, used, guarded):
    used.append(path)
    lines = ['#line 1 "%s"' % name]
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            match = INCLUDE.match(line)
            if match:
                if match.group(1) not in seen:
                    seen.add(match.group(1))
                    lines += expand(os.path.join(root, match.group(1)), match.group(1), root, seen, used, True)
                lines.append('#line %d "%s"' % (number + 1, name))
            elif FOREIGN.match(line) and not guarded:
                sys.exit("%s:%d: a kernel may include shared/*.h and opencl/kernels/*.h only" % (path, number))
            else:
                lines.append(line)
    return lines


def as_c(text):
    data = text.encode("ascii") + b"\0"
    rows = [",".join(str(b) for b in data[i : i + 32]) for i in range(0, len(data), 32)]
    return ",\n".join(rows)


def main(out, depfile, root, prelude, kernels):
    used = []
    arrays, table = [], []
    for i, kernel in enumerate(kernels):
        name = os.path.basename(kernel)
        seen = set()
        lines = expand(prelude, os.path.basename(prelude), root, seen, used, False)
        lines += expand(kernel, name, root, seen, used, False)
        text = "\n".join(lines) + "\n"
        arrays.append("static const char text%d[] = {\n%s};\n" % (i, as_c(text)))
        table.append('    {"%s", text%d, sizeof(text%d) - 1},\n' % (name, i, i))
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "opencl/cl_program.h"\n\n')
        file.write("\n".join(arrays))
        file.write("\nconst struct airy_cl_source airy_cl_sources[] = {\n%s};\n" % "".join(table))
        file.write("const size_t airy_cl_source_count = %d;\n" % len(kernels))
    with open(depfile, "w", encoding="utf-8") as file:
        escaped = [path.replace(" ", "\\ ") for path in sorted(set(used))]
        file.write("%s: %s\n" % (out.replace(" ", "\\ "), " ".join(escaped)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
