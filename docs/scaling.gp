# The prediction of docs/scaling.md: gnuplot docs/scaling.gp writes scaling.png
# Case 4M; every constant is one of bench/RESULTS.md.
frame = 2.42e6            # bytes a frame as stored
node1 = 21690.            # frames/s of a machine with one H200,
node2 = 40870.            # with two,
cpu = 3459.               # and of 16 cores without
# One machine with g GPUs:
wire = 22890.             # frames/s, copies to one
share = 0.93              # of it that a run reaches
pages = 63000.            # frames/s, reading from the page cache
memory = 92e9             # bytes/s, reading beside copies
min(a, b) = a < b ? a : b
machine(g) = min(min(share * g * wire, pages), memory / frame)
rate(nodes, node, storage) = (nodes * node < storage * 1e9 / frame) ? nodes * node : storage * 1e9 / frame
set terminal pngcairo size 1200,560
set output 'scaling.png'
set multiplot
set size 0.36,1
set origin 0,0
set xrange [0.5:4.5]
set yrange [0:100000]
set xtics 1
set xlabel 'GPUs of one machine'
set ylabel 'frames/s'
set format y '%.0f'
set grid
set key left top
set samples 401
plot share * x * wire title 'wires' lw 1 dt 2, \
     pages title 'reading' lw 1 dt 3, \
     memory / frame title 'memory of the host' lw 1 dt 4, \
     machine(x) title 'predicted' lw 2, \
     '-' using 1:2 title 'measured' pt 7 ps 1.5 lc rgb 'black'
1 21690
2 40870
4 40100
e
set size 0.64,1
set origin 0.36,0
set xtics auto
set logscale xy 2
set xrange [1:128]
set yrange [2048:4194304]
set xlabel 'machines'
plot rate(x, node2, 1e9) title '2 GPUs each, storage without limit' lw 1 dt 2, \
     rate(x, node2, 1000) title '2 GPUs each, 1 TB/s' lw 2, \
     rate(x, node2, 200) title '2 GPUs each, 200 GB/s' lw 2, \
     rate(x, node1, 200) title '1 GPU each, 200 GB/s' lw 2, \
     rate(x, cpu, 200) title '16 cores each, 200 GB/s' lw 2, \
     rate(x, node2, 20) title '2 GPUs each, 20 GB/s' lw 2, \
     '-' using 1:2 title 'measured, one machine' pt 7 ps 1.5 lc rgb 'black'
1 21690
1 40870
1 3459
e
unset multiplot
