$airy devices extra
