/* SPDX-License-Identifier: Apache-2.0 */
/* One line per event on standard error: time, level, message. Callers must never pass a secret.
 * Thread safe: lines from different threads do not interleave. */
#pragma once

#include <stddef.h>

#include "base/core/clock.h"
#include "base/core/text.h"

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Collects lines of one thread, for example all those from one iteration of its loop, so that they
 * can be written together: a write(2) for each line would cost more than the rest of the iteration.
 * Initialize it with zeros. */
struct log_lines {
    struct text text;
    size_t line_start;          /* where the current line begins in `text` */
    int64_t time_ms;            /* time of the newest line */
    char time[CLOCK_TEXT_SIZE]; /* time_ms as text */
};
/* Begins an info line; the caller appends its message to lines->text, then calls log_lines_end. */
void log_lines_begin(struct log_lines *lines);
void log_lines_end(struct log_lines *lines);
void log_lines_write(struct log_lines *lines);  /* writes what was collected */
void log_lines_finish(struct log_lines *lines); /* writes and frees */
