# wrong names and values: exit code 2 and what would be right
AIRY_CACHE_DIR=$PWD/cache
export AIRY_CACHE_DIR
refused() {
    $airy tune "$@" >out 2>err
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q "$wanted" err || { echo "$*" >&2; cat err >&2; exit 1; }
}
wanted="did you mean 'pipeline.slots'" && refused --set pipeline.slot=2
wanted="'airy tune --show' lists them" && refused --set warp_drive=2
wanted='expected KERNEL=N' && refused --set pipeline.slots
wanted='expected KERNEL=N' && refused --set pipeline.slots=two
wanted='expected KERNEL=N' && refused --set pipeline.slots=0
wanted='pipeline.slots = 17, expected 1 to 16' && refused --set pipeline.slots=17
wanted='pipeline.readers = 257, expected 1 to 256 on cpu' && refused --set pipeline.readers=257
wanted='exclude each other' && refused --show --sweep
wanted='take no sizes' && refused --show pipeline.slots
wanted="did you mean 'pipeline.slots'" && refused --sweep pipeline.slot
[ ! -e cache ]
