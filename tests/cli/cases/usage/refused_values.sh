# A value that no file makes good is wrong use, before a file is opened, and so is one that does not suit the file; frames that are not there are a failure.
. "$cli/check.sh"
none=there_is_no_such_file.h5
cp $small s.h5
try() { expect "$1"; shift; $airy "$@" 2>&1; echo $?; }
# of the options alone: the file is not there
try 'a block of whole pixels of no type' compress $none -o o.h5 --block 100
try 'a sensor without what uses it' peaks $none -o o.h5 --sensor Si
try 'an attenuation without what uses it' peaks $none -o o.h5 --attenuation 100
try 'a sensor of an integration without what uses it' integrate s.h5 -o o.h5 --sensor Si
# of the file
try 'a block that the pixels do not fill' compress s.h5 -o o.h5 --block 8
try 'a parallax without a sensor' peaks s.h5 -o o.h5 --parallax
try 'a parallax of a simulation without a sensor' simulate diffraction o.h5 --parallax
try 'a detector without a shape' simulate diffraction o.h5 --pixel 1e-4,1e-4
# frames that are not there
try 'frames that are not there' compress s.h5 -o o.h5 --frames 1000
expect "nothing is left" && ls *.h5
