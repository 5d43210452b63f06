$airy sources x.fits
