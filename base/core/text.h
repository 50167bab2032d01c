/* SPDX-License-Identifier: Apache-2.0 */
/* A growable string, and checks and conversions of strings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *data; /* NULL until memory is reserved; ends with a NUL once anything was added */
    size_t length;
    size_t capacity;
};

#define TEXT_AUTO __attribute__((cleanup(text_finish))) struct text

void text_reserve(struct text *text, size_t more); /* makes room for `more` bytes */
void text_add_bytes(struct text *text, const char *bytes, size_t length);
/* Inline, so that the compiler computes the length of a literal. */
static inline void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}
void text_add_char(struct text *text, char c);
void text_add_integer(struct text *text, int64_t value); /* decimal */
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);               /* length 0, memory kept */
const char *text_string(const struct text *text); /* never NULL */
char *text_take(struct text *text); /* returns the string, which the caller frees; empties `text` */
void text_finish(struct text *text);

#define UTF8_LONGEST 4 /* maximum number of bytes in a character */
/* The number of bytes in the UTF-8 sequence that `bytes` starts with; 0 if it is not
 * well-formed. */
size_t text_utf8_sequence(const char *bytes, size_t length);
/* If the character that `bytes` starts with is invisible, returns the number of its bytes;
 * otherwise 0. Invisible characters are those with Unicode's property Default_Ignorable_Code_Point
 * (they change the direction of text, join characters, select a variant, ...) and interlinear
 * annotations. */
size_t text_invisible_sequence(const char *bytes, size_t length);
/* Whether the bytes are well-formed UTF-8, without overlong forms or surrogates. */
bool text_is_utf8(const char *bytes, size_t length);
/* Appends untrusted bytes: NUL and invalid UTF-8 become U+FFFD. */
void text_add_utf8(struct text *text, const char *bytes, size_t length);
/* Copies at most size-1 bytes and a NUL, never splitting a UTF-8 sequence; returns the number of
 * bytes copied, without the NUL. */
size_t text_copy(char *out, size_t size, const char *string);
/* Reads a decimal integer. Returns false if the string is anything else, or not within [low,
 * high]. */
bool text_to_integer(const char *string, int64_t low, int64_t high, int64_t *out);
/* Whether the string is a valid name: [A-Za-z0-9][A-Za-z0-9._-]{0,62}. */
bool text_is_name(const char *string);
bool text_equal_constant_time(const char *a, const char *b);
/* The number of bytes before the first one that is not printable ASCII. */
size_t text_plain_length(const char *bytes, size_t length);
/* Appends at most `limit` bytes of a text in a form that is safe to show: control characters
 * (except \n and \t), separators of lines and paragraphs, and invalid UTF-8 become U+FFFD;
 * invisible characters are dropped; and no sequence is split. */
void text_add_printable(struct text *text, const char *bytes, size_t length, size_t limit);
