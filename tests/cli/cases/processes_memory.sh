# the limit is shared: what one may use is too little for four
$airy integrate $small --layout processes --processes 4 --batch 8 --memory-limit 1M -o a.h5 2>said
[ $? = 1 ] && [ "$(wc -l <said)" = 1 ] && [ ! -e a.h5.partial ] || { cat said >&2; exit 1; }
