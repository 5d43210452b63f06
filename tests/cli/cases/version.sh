$airy --version
$airy --version --verbose | grep -c '^airy 0.1.0'
