/* airy-bench: what measures. `airy bench` and `airy tune` start it with the same words. */
#include "bench.h"
#include "cli/program.h"

int main(int argc, char **argv)
{
    static const struct command *const commands[] = {&cmd_bench, &cmd_tune};
    const struct program bench = {.commands = commands,
                                  .count = sizeof(commands) / sizeof(commands[0]),
                                  .hidden = &cmd_bench_start,
                                  .is_part = true};
    return program_main(&bench, argc, argv);
}
