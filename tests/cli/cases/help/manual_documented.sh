# README names what writes manual pages and the completion, and both work
top=$(cd "$cli/../.." && pwd)
for option in manual completion; do
    grep -q -e "\`airy --$option" "$top/README.md" || { echo "README.md does not name airy --$option" >&2; exit 1; }
done
mkdir pages && "$airy" --manual pages && [ -s pages/airy-integrate.1 ] || exit 2
"$airy" --completion | grep -q 'complete .*airy' || exit 3
