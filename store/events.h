/* What streams were told, with a cursor per stream, so that a cut stream can be resumed. */
#pragma once

#include "base/random.h"
#include "store/store.h"

struct event_row {
    int64_t sequence;
    char *frame; /* heap */
};
#define EVENTS_PER_STREAM 256
#define EVENT_STREAM_SIZE (ID_SIZE + 24)
/* How the store calls a session's stream. */
void event_stream(const char *session, const char *stream, char out[EVENT_STREAM_SIZE]);
/* Frames are flushed together within a second; sequence numbers are the caller's, ascending per
 * stream. Of each stream the newest EVENTS_PER_STREAM are kept. BUSY when too many wait. */
bool event_add(struct store *store, const char *stream, int64_t sequence, const char *frame,
               int64_t now_ms, struct error *error);
/* Ascending from after `after`; what was added before the call is there. Free with event_rows_free.
 */
bool event_list(struct store *store, const char *stream, int64_t after, size_t limit,
                struct event_row **out, size_t *count, struct error *error);
void event_rows_free(struct event_row *rows, size_t count);
