$airy integrate $small --explain --bins 77 >text 2>/dev/null || exit 1
grep -q ' 77 bins, radial 0 to .* q_nm^-1,' text && grep -q '^memory' text && grep -q '^rate  *[1-9].* frames/s$' text && [ "$(ls)" = text ]
