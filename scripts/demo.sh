#!/bin/sh
# Simulate a small Eiger 4M stack, integrate it on the default device, print a table, leave a result and a plot in demo/.
#   scripts/demo.sh BUILD
set -eu
airy=$1/tools/airy/airy
mkdir -p demo

echo "1. Simulate 64 frames of an Eiger 4M (2167 x 2070 pixels, uint32, bitshuffle-LZ4)"
"$airy" simulate diffraction demo/eiger4m.h5 --frames 64 --same-frame --increment 500 --write-poni demo/eiger4m.poni --force

echo "2. Integrate them to 1000 bins, pixels split, Poisson errors"
"$airy" integrate demo/eiger4m.h5 --poni demo/eiger4m.poni --error-model poisson -o demo/patterns.h5 \
    --plot demo/patterns.png --force

echo "3. How fast that is here, against the limit measured in the same run"
"$airy" bench integrate demo/eiger4m.h5 --poni demo/eiger4m.poni --table

echo
echo "Result: demo/patterns.h5 (silx view, h5py)   Plot: demo/patterns.png"
