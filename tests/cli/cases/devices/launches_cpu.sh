# a profile on the CPU counts each loop of the work, and nothing of the warm-up
. "$cli/launches.sh"
work
count_launches
