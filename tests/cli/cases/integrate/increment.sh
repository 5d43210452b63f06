$airy simulate diffraction s.h5 --detector pilatus_100k --frames 502 --same-frame --increment 500 --seed 1 --quiet &&
    $airy integrate s.h5 --bins 300 -o r.h5 --quiet && $helper increment r.h5 500
