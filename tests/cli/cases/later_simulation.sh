$airy simulate sky x.fits
