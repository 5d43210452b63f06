# from a new process to the first patterns: each step has a row, and the options of the pattern reach the process
$airy bench start $small --seconds 0.01 --bins 300 --error-model poisson --quiet >rows || exit 1
for row in 'start: process' 'start: device opened' 'start: stack and geometry' 'start: integrator' 'start: the integrator.s matrix' 'start: to the first patterns' 'first patterns after start'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
$airy bench start $small --seconds 0.01 --radius 1 >rows 2>err && exit 3
$airy bench start missing.h5 --seconds 0.01 >rows 2>err && exit 4
[ "$(wc -l <err)" = 1 ]
