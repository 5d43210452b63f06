$airy integrate $small --frames 1 --device cpu,opencl:0:0 -o y.xy 2>err
code=$?
grep -q 'no device\|which takes one device' err || { cat err >&2; exit 1; }
[ $code = 1 ] || [ $code = 2 ]
