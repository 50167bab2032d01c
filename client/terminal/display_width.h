/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns of a terminal a text takes: wide characters take two, combining ones none. */
#pragma once

#include <stddef.h>

/* Selects the C library's UTF-8 tables. Call it once, before the other functions. The format of
 * numbers does not change. */
void display_width_begin(void);
size_t display_width(const char *text, size_t length);
/* The number of leading bytes that fit into this many columns; no character is split. */
size_t display_width_fit(const char *text, size_t length, size_t columns);
