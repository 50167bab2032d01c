/* One line per event on standard error: time, level, message. Never a secret. Thread safe: one
 * write(2) per line. */
#pragma once

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
