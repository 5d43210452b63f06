$airy calibrate x.fits
