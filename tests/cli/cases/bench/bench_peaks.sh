# three rates and what was found
$airy bench peaks $small --seconds 0.01 --replay 1 --quiet | grep '"name"'
