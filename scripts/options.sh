#!/bin/sh
# usage: options.sh AIRY
# Prints the last section of docs/command.md, what each command takes, from the help of AIRY.
airy=${1:?usage: options.sh AIRY}
cat <<'TEXT'
## Every option

What each command takes beside `--external-folder`, `--no-verify`, `--json`, `--force`,
`--quiet`, `--verbose`, `--help` and `--version`. `scripts/options.sh` makes this list of the help, and a test
compares them.
TEXT
"$airy" --help | sed -n '/^Commands$/,/^$/s/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' | while read -r command; do
    # shellcheck disable=SC2086
    "$airy" $command --help </dev/null | awk '
        function put(word) {
            if (at && at + 2 + length(word) > 80) { print line; at = 0 }
            line = at ? line "  " word : "        " word
            at = length(line)
        }
        /^usage: / { sub(/^usage: /, ""); print "\n    " $0 }
        /^  (-., )?--/ {
            sub(/^  /, "")
            sub(/  .*/, "")
            if ($0 !~ /^--(external-folder DIR|no-verify|json|force|quiet|verbose|version)$|--help$/) put($0)
        }
        END { if (at) print line }'
done
