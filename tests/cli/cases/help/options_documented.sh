# docs/command.md lists what the help lists
top=$(cd "$cli/../.." && pwd)
sed -n '/^## Every option/,$p' "$top/docs/command.md" >have
sh "$top/scripts/options.sh" "$airy" >want
diff have want >&2 || { echo "docs/command.md: its last section is what scripts/options.sh prints" >&2; exit 1; }
