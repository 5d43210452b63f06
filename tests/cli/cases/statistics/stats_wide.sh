# extremes of integers of 64 bits have all their digits, which f64 has not
npy() { # NAME DESCR SHAPE: the bytes that follow on standard input
    { printf '\223NUMPY\1\0v\0'; printf "%-117s\n" "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"; cat; } >$1
}
bytes() { for b; do printf "\\$(printf %03o "$b")"; done; }
# 2^64 - 1, 2^64 - 2, 2^53 + 1, 2^53: little-endian
{ bytes 255 255 255 255 255 255 255 255; bytes 254 255 255 255 255 255 255 255; bytes 1 0 0 0 0 0 32 0; bytes 0 0 0 0 0 0 32 0; } >four
npy u.npy '<u8' '2, 2' <four
npy i.npy '<i8' '2, 2' <four
npy c.npy '<u8' '2, 1, 2' <four
show() { "$airy" stats "$@" 2>/dev/null | sed -n 's/ *"\(min\|max\)": \(.*\),/\1 \2/p' | paste -sd' '; }
show u.npy
show i.npy
show c.npy --each
show c.npy --each --frames 1
{ bytes 1 0 0 0 0 0 0 0; bytes 0 0 0 0 0 0 0 0; bytes 0 0 0 0 0 0 0 0; bytes 1 0 0 0 0 0 0 0; } | npy m.npy '<u8' '2, 2'
show u.npy --mask m.npy
