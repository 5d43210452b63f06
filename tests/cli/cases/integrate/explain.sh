$airy integrate $small --explain --bins 77 >text 2>/dev/null || exit 1
grep -q 'bins 77,' text && grep -q '^memory' text && grep -q '^frames per second [1-9]' text && [ "$(ls)" = text ]
