/* Messages of a stream made for tests, without anything of src/. */
#ifndef AIRY_TESTS_CHECK_STREAM_H
#define AIRY_TESTS_CHECK_STREAM_H

#include "check.h"

enum { STREAM_HEIGHT = 6, STREAM_WIDTH = 7 };

struct message {
    uint8_t bytes[4096];
    size_t size;
};

/* One item's head: major type and value; then items. */
void put_head(struct message *m, unsigned major, uint64_t value);
void put_raw(struct message *m, const void *bytes, size_t size);
void put_text(struct message *m, const char *text);
void put_count(struct message *m, const char *key, uint64_t value);
/* type, series_id, series_unique_id, and so many more keys to come. */
void begin_message(struct message *m, const char *type, size_t more, uint64_t series);
/* Tag 40 of [[height, width], tag bytes]. */
void put_array(struct message *m, size_t height, size_t width, unsigned tag, const void *bytes,
               size_t size);
/* Small ones: u16 pixels of STREAM_HEIGHT x STREAM_WIDTH, image_id + i in byte i. */
void make_start(struct message *m, uint64_t series, uint64_t images);
void make_image(struct message *m, uint64_t series, uint64_t id);
void make_end(struct message *m, uint64_t series);

/* Parts of check_stream. */
void check_stream_series(struct check *c);
void check_stream_senders(struct check *c);

#endif
