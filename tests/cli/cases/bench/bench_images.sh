# each with a limit and a ratio; on the CPU nothing is copied there and back
$airy bench convolve1d stats clip threshold label measure chain background --device cpu --seconds 0.01 >a && grep -c '"limit": 0\.0' a; grep -c '"name"' a; grep -c 'with copies' a; [ ! -e airy-* ]
$airy bench copy --device cpu --seconds 0.01 | grep -c '"name": "pu[a-z]* 400 MB'
