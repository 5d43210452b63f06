$airy plot $small -o p.png
