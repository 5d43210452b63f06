# one core and two, with what they can do; only the CPU
$airy bench scaling $small --poni "${small%.h5}.poni" --bins 100 --seconds 0.01 --replay 2 --threads 1 --quiet >rows || exit 1
for row in 'integrate, 1 core' 'speed-up, 1 core' 'compute in cache, 1 core' 'read memory, 1 core'; do
    grep -q "\"name\": \"$row\"" rows || exit 2
done
$airy bench scaling $small --threads 1000 --quiet >rows 2>err && exit 3
grep -q 'fewer cores than threads' err
