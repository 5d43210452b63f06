# an image is one plane; of four axes the planes are all of the first two; one axis has none
bytes='a.b..c...d....e.....f......g.......h.......i......j.....k....l...m..n.o..p...q...r..s.t'
npy() { # SHAPE COUNT
    printf '\223NUMPY\1\0v\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($1)}"
    printf %s "$bytes" | head -c $2
}
npy '2, 2, 3, 7' 84 >four.npy
npy '4, 3, 7' 84 >three.npy
npy '1, 1, 3, 7' 21 >channel.npy
npy '3, 7' 21 >two.npy
npy '21,' 21 >one.npy
for connectivity in 4 8; do
    for name in four three channel two; do
        $airy label $name.npy --each --above 46 --connectivity $connectivity --table $name.csv -o $name.l.npy --force --quiet | tr -d ' \n'
        echo
    done
    cmp four.csv three.csv
    cmp channel.csv two.csv
    $airy label two.npy --above 46 --connectivity $connectivity -o whole.npy --force --quiet >whole.json
    cmp whole.npy two.l.npy
done
for name in four three channel two; do $airy info $name.l.npy; done
tail -c 336 four.l.npy >a; tail -c 336 three.l.npy | cmp - a
$airy label one.npy --each --quiet; echo $?
