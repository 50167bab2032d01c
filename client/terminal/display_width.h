/* SPDX-License-Identifier: Apache-2.0 */
/* How many columns of a terminal a text takes: wide characters take two, combining ones none. */
#pragma once

#include <stddef.h>

/* Once, before the others: makes the C library's tables of characters those of UTF-8. Numbers are
 * written as before. */
void display_width_begin(void);
size_t display_width(const char *text, size_t length);
/* The number of bytes at the front that fit into so many columns; no character is split. */
size_t display_width_fit(const char *text, size_t length, size_t columns);
