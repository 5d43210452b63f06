/* Senders that mean harm, many at once. */
#ifndef AIRY_TESTS_HOSTILE_H
#define AIRY_TESTS_HOSTILE_H

/*
 * PORT SENDERS SECONDS SEED: each sender, from an address of its own (127.0.0.2 and so on), does one of
 * a dozen things at random, again and again. Prints what was done, a count of each. Exit code.
 */
int hostile(int count, char **arguments);

#endif
