# which line names the columns of a table, and no row is lost without a word
case $($airy --version --verbose) in *"wcs: no"*|*"fits: written only"*) echo "no wcslib or CFITSIO" >&2; exit 77 ;; esac
$airy simulate sky a.fits --height 32 --width 32 --sources 0 --source none --quiet
pixels() { printf "$1" >t; $airy sky a.fits --pixels t 2>&1 | cut -d , -f 1,2; }
places() { printf "$1" >t; $airy sky a.fits --radec t 2>&1 | cut -d , -f 3,4; }
echo 'lines of # that speak of them:'
places '# ra and dec in deg\n83.6,22.0\n'
pixels '# columns of x and y\n1.0,2.0,3.0,4.0\n'
pixels '# catalogue of x y positions\n10,11\n'
pixels '# 1 x and y\n# 7 x\n10,11\n'
echo 'a line without # counts most:'
pixels '# units of x are y px\nid,x,y,flux,a,b\n1,2,3,4,5,6\n'
pixels '# 1 X_IMAGE\n# 2 Y_IMAGE\nid,x,y\n1,2,3\n'
echo 'lines of # that name them:'
pixels '# y,flux,x\n# in px, x and y\n1,2,3\n4,5,6\n'
pixels '# y flux x\n# all x y of it\n1 2 3\n'
pixels '# X_IMAGE Y_IMAGE\n1,2\n'
pixels '# 2 X_IMAGE\n# 3 Y_IMAGE\n1 2 3\n'
echo 'neither names nor numbers:'
pixels '# x y\n1.5e,2\n3,4\n'
pixels '1.5e,2\n3,4\n'
pixels 'x,2\n3,4\n'
pixels '# columns of x and y\n1.0,2.0,3.0,4.0,5.0\n'
pixels '# 1 NUMBER\n# 2 FLUX\n1 2\n'
mkdir folder && $airy sky a.fits --pixels folder 2>&1; echo $?
echo 'columns that have blanks:'
pixels 'name x y\nM 13 1 2\n'
pixels '# name x y\nM13 1 2\nM 14 3 4\n'
printf '05 34 31.9 +22 00 52\n' >six; $airy sky a.fits --radec six 2>&1; echo $?
