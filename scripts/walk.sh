#!/bin/sh
# A newcomer's walk through a fresh Debian 12: the README's commands, packages, a program of one's own; each step is timed.
#   scripts/walk.sh FOLDER [MIRROR]     as root, with debootstrap and a network; FOLDER is made new, some 4 GB, and left
# Exits with 77 where that is not to be had.
set -eu
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null 2>&1 || { echo "needs root and debootstrap" >&2; exit 77; }
source=$(cd "$(dirname "$0")/.." && pwd)
root=$1
mirror=${2:-http://deb.debian.org/debian}
[ ! -e "$root" ] || { echo "scripts/walk.sh: $root is there; give a new folder" >&2; exit 1; }
mkdir -p "$root"
root=$(cd "$root" && pwd)
log=$root.log
: > "$log"

leave() {
    for place in dev/shm dev/pts dev sys proc; do umount "$root/$place" 2>/dev/null || true; done
}
trap leave EXIT
step() { # NAME COMMAND: in the tree, as a user's shell would be
    start=$(date +%s)
    if ! chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb JOBS="${JOBS:-$(nproc)}" \
        sh -ec "cd /srv/airy && $2" >>"$log" 2>&1; then
        echo "FAIL $1, after $(($(date +%s) - start)) s; the end of $log:"
        tail -n 30 "$log"
        exit 1
    fi
    printf '%5d s  %s\n' $(($(date +%s) - start)) "$1"
}

start=$(date +%s)
debootstrap --variant=minbase bookworm "$root" "$mirror" >>"$log" 2>&1
mkdir -p "$root/srv/airy"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"
git clone -q "$source" "$root/srv/airy"
printf '%5d s  %s\n' $(($(date +%s) - start)) "the tree: debootstrap --variant=minbase bookworm, git clone"

step "apt-get install make git ca-certificates" 'apt-get update -qq && apt-get install -y -qq --no-install-recommends make git ca-certificates'
step "make demo" 'make demo'
step "make test" 'make test'
grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1 | sed 's/^/         /'
step "make deb" 'make deb'
step "apt-get install ./deb/*.deb" 'rm -f deb/*dbgsym*; apt-get install -y -qq --no-install-recommends ./deb/*.deb'
step "airy simulate diffraction, airy integrate --plot" 'cd /tmp && airy simulate diffraction run.h5 --frames 16 --detector pilatus_1M --write-poni run.poni &&
    airy integrate run.h5 --poni run.poni -o patterns.h5 --error-model poisson --plot patterns.png && test -s patterns.png'
step "examples/pattern.c by pkg-config, run" 'cc -std=c11 examples/pattern.c -o /tmp/pattern $(pkg-config --cflags --libs airy) && /tmp/pattern'
step "man airy-integrate, completion" 'test -s /usr/share/man/man1/airy-integrate.1.gz && test -s /usr/share/bash-completion/completions/airy'
