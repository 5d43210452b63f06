/**
 * Tables and regions to files: what a catalogue of sources is written with.
 *
 * Coordinates of pixels count from 0 in memory, as everywhere in Airy; a region file counts from 1
 * where it has no sky coordinates, because DS9 does.
 */
#ifndef AIRY_TABLE_H
#define AIRY_TABLE_H

#include <stdint.h>

#include "airy/sky.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zeroed but for name, dtype and data is the default. Text is UTF-8, names and units ASCII. */
typedef struct airy_column {
    const char *name; /**< printable, unique in its table whatever the case */
    const char *unit; /**< as FITS and VOUnit spell it: "deg", "pix", "Jy/beam"; NULL: none */
    const char *ucd;  /**< such as "pos.eq.ra;meta.main"; NULL: none */
    const char *description; /**< one line; NULL: none */
    airy_dtype dtype;
    const void *data; /**< a value a row */
    size_t step;      /**< bytes from a row's value to the next; 0: tightly packed */
    bool has_null;    /**< integers: the value `null` stands for none; of floats NaN does */
    int64_t null;
} airy_column;

/** A property of the whole table: a keyword of FITS, a PARAM of a VOTable. */
typedef struct airy_note {
    const char *key;     /**< 1 to 8 of A-Z, 0-9, '-' and '_'; none that FITS has for a table's
                              structure (NAXIS, TFORM1, END, ...) */
    const char *text;    /**< NULL: the number */
    double number;       /**< finite */
    const char *comment; /**< NULL: none */
} airy_note;

typedef struct airy_table {
    const char *name;        /**< such as "SOURCES"; NULL: "TABLE" */
    const char *description; /**< NULL: none */
    size_t rows, columns;
    const airy_column *column;
    const airy_note *note;
    size_t notes;
    /** frame of the columns whose UCD begins with "pos.eq", "pos.galactic" or "pos.ecliptic";
     *  NULL: none */
    const airy_sky_info *sky;
} airy_table;

/**
 * Write a table; the suffix decides. The file appears when it is complete.
 *
 * .csv         RFC 4180 but for lines that end in a line feed alone: a line of names, then the
 *              rows. It has no place for units, notes and the frame.
 * .fits, .fit  a binary table behind an empty primary HDU: TTYPE, TFORM, TUNIT, TNULL, and TUCD and
 *              TCOMM as TOPCAT has them; RADESYS, EQUINOX; notes as keywords. Needs no CFITSIO.
 * .vot, .xml   VOTable 1.4, TABLEDATA, with COOSYS.
 *
 * Floats have the fewest digits that give them back (FITS: their bits). No value: an empty field in
 * CSV, NaN or TNULL in FITS, NaN or the null of VALUES in a VOTable. FITS and VOTable know no
 * unsigned integers but bytes; the others become the next wider signed type.
 *
 * Errors: AIRY_ERR_PARAM (names, notes; a u64 of 2^63 or more), AIRY_ERR_DTYPE,
 *         AIRY_ERR_UNSUPPORTED (suffix), AIRY_ERR_EXISTS unless force, AIRY_ERR_MEMORY,
 *         AIRY_ERR_IO.
 * Threads: any.
 * Source: FITS Standard 4.0 (IAU FITS Working Group, 2018), section 7.3; VOTable 1.4 (IVOA, 2019).
 */
AIRY_API airy_status airy_table_write(const airy_table *table, const char *path, bool force);
/** Return whether the name is that of a format that airy_table_write knows. Any thread. */
AIRY_API bool airy_table_has_format(const char *path);

/** An ellipse in pixels, from 0 at the centre of the first one. */
typedef struct airy_ellipse {
    double x, y;
    double a, b;  /**< semi-axes, px */
    double theta; /**< of a against x, towards y, rad */
} airy_ellipse;

/**
 * Write ellipses as regions of DS9, numbered 1, 2, ... in their text. With a sky whose frame DS9
 * knows (ICRS, FK5 of 2000, FK4 of 1950, galactic, ecliptic of 2000) in its degrees, semi-axes in
 * arc seconds and the angle from west towards north (a quarter turn more than the position angle),
 * from the coordinates' derivatives at the centre; else, and for an ellipse that lies on no point
 * of the sky, in pixels that count from 1. Ellipses with a value that is not finite are left out.
 *
 * @param sky  NULL: pixels
 * @param path  written whatever its suffix; .reg is usual
 * Errors: AIRY_ERR_PARAM, AIRY_ERR_EXISTS unless force, AIRY_ERR_MEMORY, AIRY_ERR_IO.
 * Source: SAOImage DS9 reference manual, "Regions".
 */
AIRY_API airy_status airy_regions_write(const airy_ellipse *ellipses, size_t count, airy_sky *sky,
                                        const char *path, bool force);

#ifdef __cplusplus
}
#endif
#endif
