$airy integrate $small --explain --bins 77 >text 2>/dev/null || exit 1
grep -q '77 bins' text && grep -q '^memory' text && grep -q '^rate' text && [ "$(ls)" = text ]
