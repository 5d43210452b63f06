$airy tune
