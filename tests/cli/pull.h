/* A receiver of streams for the shell cases. */
#ifndef AIRY_TESTS_CLI_PULL_H
#define AIRY_TESTS_CLI_PULL_H

/* urls: count of them, NULL-terminated; the first may be --count. Exit code. */
int pull(int count, char **urls);

#endif
