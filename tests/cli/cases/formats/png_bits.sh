# grey PNG of 1, 2 and 4 bits, rows of no whole bytes: the values as stored, a byte each
head='\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\005\0\0\0\002'
tail='\0\0\0\0IEND\256B\140\202'
printf "$head"'\001\0\0\0\0\270\021\053\360\0\0\0\014IDAT\170\332\143\010\140\130\001\0\001\234\0\371\207\133\004\326'"$tail" >1.png
printf "$head"'\002\0\0\0\0\377\261\121\040\0\0\0\016IDAT\170\332\143\260\144\140\170\162\0\0\003\253\001\336\372\043\247\375'"$tail" >2.png
printf "$head"'\004\0\0\0\0\160\361\244\200\0\0\0\020IDAT\170\332\143\140\177\172\200\301\112\342\003\0\013\045\002\357\275\002\220\053'"$tail" >4.png
for i in 1 2 4; do
    $airy convert $i.png -o $i.npy --quiet
    head -c 128 $i.npy | grep -ao "|u1.*(2, 5)"
    tail -c 10 $i.npy | od -An -tu1
done
