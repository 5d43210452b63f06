/* A detector that sends what it should not, and a subscriber, for the shell cases. */
#ifndef AIRY_TESTS_CLI_PUSH_H
#define AIRY_TESTS_CLI_PUSH_H

/* Arguments as the comment of helper.c has them. Exit codes. */
int push(int count, char **arguments);
int subscribe(int count, char **arguments);

#endif
