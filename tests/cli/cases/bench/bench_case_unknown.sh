$airy bench --case 4M,5M
