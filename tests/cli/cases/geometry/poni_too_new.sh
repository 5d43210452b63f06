sed 's/^poni_version:.*/poni_version: 99/' "${small%.h5}.poni" >new.poni
$airy info new.poni
