# The prediction of docs/scaling.md: gnuplot docs/scaling.gp writes scaling.png
# Case 4M; every constant is one of bench/RESULTS.md.
frame = 2.42e6            # bytes a frame as stored
node1 = 21260.            # frames/s of a machine with one H200,
node2 = 40560.            # with two,
cpu = 3459.               # and of 16 cores without
rate(nodes, node, storage) = (nodes * node < storage * 1e9 / frame) ? nodes * node : storage * 1e9 / frame
set terminal pngcairo size 900,560
set output 'scaling.png'
set logscale xy 2
set xrange [1:128]
set yrange [2048:4194304]
set xlabel 'machines'
set ylabel 'frames/s'
set format y '%.0f'
set grid
set key left top
plot rate(x, node2, 1e9) title '2 GPUs each, storage without limit' lw 1 dt 2, \
     rate(x, node2, 1000) title '2 GPUs each, 1 TB/s' lw 2, \
     rate(x, node2, 200) title '2 GPUs each, 200 GB/s' lw 2, \
     rate(x, node1, 200) title '1 GPU each, 200 GB/s' lw 2, \
     rate(x, cpu, 200) title '16 cores each, 200 GB/s' lw 2, \
     rate(x, node2, 20) title '2 GPUs each, 20 GB/s' lw 2, \
     '-' using 1:2 title 'measured, one machine' pt 7 ps 1.5
1 21260
1 40560
1 3459
e
