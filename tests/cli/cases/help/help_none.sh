$airy
