/* Words of OCT plans in the order of their enums, for reading and writing. */
#ifndef AIRY_IO_OCT_WORDS_H
#define AIRY_IO_OCT_WORDS_H

static const char *const oct_packings[] = {"none", "10", "12"};
static const char *const oct_byte_orders[] = {"little", "big"};
static const char *const oct_interpolations[] = {"linear", "cubic", "lanczos"};
static const char *const oct_windows[] = {"rect",  "hann", "hamming", "blackman",
                                          "gauss", "sine", "flattop", "tukey"};
static const char *const oct_outputs[] = {"db", "magnitude", "power", "phase", "complex"};
static const char *const oct_flips[] = {"none", "even", "odd", "all"};
static const char *const oct_flows[] = {"none", "phase", "variance"};
static const char *const oct_repeats[] = {"lines", "frames"};
static const char *const oct_compats[] = {"none", "pymotionoct", "octproz"};

#define OCT_WORDS(list) (list), sizeof(list) / sizeof((list)[0])

#endif
