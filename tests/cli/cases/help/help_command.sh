$airy help plot | head -n 1
