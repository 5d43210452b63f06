# how many images of a shape fit is known before there is one
. "$cli/check.sh"
A="$airy info --fits"
counts() { $A "$@" --json | tr -d ' \n' | sed 's/.*"spec":"cpu"[^}]*"total":\([0-9]*\)[^}]*"largest":\([0-9]*\).*/\1 \2/'; }
expect 'its bytes are those of the shape'
$A 100x1024x1024,float32 --json | grep -e '"bytes"' -e '"dtype"'
$A 7,u16 | head -n 1
expect 'half as large an image fits twice as often, and as one array with twice as many rows'
echo "$(counts 1024x1048576,uint8) $(counts 1024x1048576,uint16)" | {
    read -r many rows half half_rows
    [ $((many - 2 * half)) -le 1 ] && [ $((many - 2 * half)) -ge 0 ] && [ $((rows - 2 * half_rows)) -le 1 ] && [ $((rows / 1024)) = "$many" ] && echo so
}
expect 'memory of a job counts'
SLURM_MEM_PER_NODE=4096 $A 1024x1048576,uint8 | grep Slurm
expect 'none is an answer as well'
SLURM_MEM_PER_NODE=1 $A 1024x1048576,uint8 | grep Slurm
for wrong in 100x100 x100,u8 100x,u8 0x5,u8 1x2x3x4x5,u8 100,word -1,u8 9223372036854775807x2,u8 9223372036854775807,u16; do
    expect "$wrong is refused" $A "$wrong"
done
expect 'a file beside it is refused' $A 5x5,u8 "$small"
