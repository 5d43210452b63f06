# all figures of another build are compared, however many there are
cat >many <<'S'
#!/bin/sh
awk 'BEGIN { printf "["; for (i = 0; i < 4200; i++) printf "%s{\"name\": \"n%d\", \"case\": \"c\", \"device\": \"cpu\", \"value\": 1.5, \"unit\": \"s\"}", i ? ", " : "", i; print "]" }'
S
chmod +x many
$airy bench decode $small --seconds 0.01 --rounds 1 --against ./many --quiet >rows 2>err
grep -c '"name": "n' rows
