$airy simulate oct x.fits
