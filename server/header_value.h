/* Header values of 2026-07-28: plain visible ASCII, or =?base64?...?= around base64 of UTF-8. */
#pragma once

/* The value meant, as heap memory; NULL if it is malformed, not UTF-8, or holds a NUL. */
char *header_value_decode(const char *value);
