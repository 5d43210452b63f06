# patterns and tables as text are compared column by column, without their comments
. "$cli/check.sh"
for end in xye xy chi dat; do
    "$airy" integrate "$small" --frames 0 --bins 6 --error-model poisson -o "a.$end" --quiet || exit 1
    "$airy" integrate "$small" --frames 1 --bins 6 --error-model poisson -o "b.$end" --quiet || exit 1
done
printf 'label,"flux, Jy",com_x\n1,2.5,\n2,nan,-1e300\n' >a.csv
printf 'label,"flux, Jy",com_x\n1,2.5,\n2,nan,-1.5\n' >b.csv
printf 'label,"flux, Jy",com_x\n' >none.csv
printf 'label,flux,com_x\n1,2.5,3\n' >other.csv
printf 'label,flux,com_x\n1,2.5\n' >short.csv
printf 'label,flux,com_x\n1,bright,2\n' >words.csv
for end in xye xy chi dat; do
    expect "a .$end equals itself" "$airy" diff "a.$end" "a.$end"
    expect "two frames differ in .$end" "$airy" diff "a.$end" "b.$end" --rtol 1e-9 >/dev/null
done
expect 'comments are no part of a pattern'
grep -v '^#' a.xye >plain.xye && "$airy" diff a.xye plain.xye
expect 'a tolerance holds for text as well' "$airy" diff a.xye b.xye --rtol 1 --atol 1
expect 'a pattern without errors lacks a column' "$airy" diff a.xye a.xy
expect 'an empty cell and nan are equal to themselves' "$airy" diff a.csv a.csv
expect 'a table differs in one cell' "$airy" diff a.csv b.csv
expect 'tables as JSON' "$airy" diff a.csv b.csv --json
expect 'tables of other lengths differ' "$airy" diff a.csv none.csv
expect 'a table without rows equals itself' "$airy" diff none.csv none.csv
expect 'tables of other columns cannot be compared' "$airy" diff a.csv other.csv
expect 'a row that is too short is refused' "$airy" diff other.csv short.csv
expect 'a word is refused' "$airy" diff other.csv words.csv
expect 'a missing text is refused' "$airy" diff a.csv missing.csv
