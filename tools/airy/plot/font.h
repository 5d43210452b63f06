/* Letters for pictures, 5 x 7 points. */
#ifndef AIRY_TOOLS_PLOT_FONT_H
#define AIRY_TOOLS_PLOT_FONT_H

#include <stdint.h>

enum { FONT_WIDTH = 5, FONT_HEIGHT = 7, FONT_STEP = 6 }; /* STEP: from one letter to the next */

/* Columns of a letter from the left, bit 0 on top; '?' for what is no ASCII. */
const uint8_t *font_columns(char letter);

#endif
