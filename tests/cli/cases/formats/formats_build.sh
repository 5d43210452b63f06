# lists of formats are of what this build has
$airy simulate sky y.npy --height 4 --width 4 --quiet
has=no
case $($airy --version --verbose) in *"tiff: libtiff"*) has=yes ;; esac
try() { # COMMAND...
    $airy "$@" >out 2>err
    echo "$?"
}
for command in convert threshold label blur filter convolve oct 'oct calibrate' 'simulate oct' integrate; do
    $airy $command --help >help
    said=no
    grep -qi tif help && said=yes
    [ $said = $has ] || echo "$command: TIFF in its help: $said, in the build: $has"
done
for name in o.foo o.tif o.tiff; do
    code=$(try convert y.npy -o $name)
    listed=no
    grep -q '[.]tif, ' err && listed=yes
    case $name:$has:$code in
    o.foo:*:2) [ $listed = $has ] || cat err ;;
    o.tif*:yes:0) ;;
    o.tif*:no:2) grep -q "'$name': this build knows no TIFF, it lacks libtiff" err || cat err ;;
    *) echo "$name: exit code $code" && cat err ;;
    esac
done
cp y.npy unknown && printf x >unknown && try stats unknown >code
[ "$(grep -c '[.]tif' err)" = "$([ $has = yes ] && echo 1 || echo 0)" ] || cat err
