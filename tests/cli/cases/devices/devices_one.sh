# what takes one device refuses several
$airy tune --show --device gpu:all
