#!/bin/sh
# usage: example_live.sh AIRY EXAMPLE
# examples/job_live.c takes a series that the command streams.
set -e
airy=$1
example=$2
case $airy in /*) ;; *) airy=$PWD/$airy ;; esac
case $example in /*) ;; *) example=$PWD/$example ;; esac
case $("$airy" --version --verbose) in *"streams: no"*) exit 77 ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
AIRY_DEVICE=cpu
AIRY_CACHE_DIR=none
export AIRY_DEVICE AIRY_CACHE_DIR
"$airy" simulate diffraction stack.h5 --detector Pilatus100k --frames 32 --quiet
cat >file.poni <<'PONI'
poni_version: 2
Detector: Pilatus100k
Detector_config: {}
Distance: 0.1
Poni1: 0.01
Poni2: 0.04
Rot1: 0
Rot2: 0
Rot3: 0
Wavelength: 1e-10
PONI
timeout 120 "$airy" stream stack.h5 --to ipc://live --quiet --patience 60 &
timeout 120 "$example" ipc://live file.poni >live.txt
wait
grep -q '^begins: ' live.txt
test "$(grep -c '^row: series [0-9]*, frame [0-9]* .*[0-9] at [0-9]' live.txt)" = 32
grep -q '^row: series [0-9]*, frame 31 ' live.txt
grep -q '^ends: ' live.txt
