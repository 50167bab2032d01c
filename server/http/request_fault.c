/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/request_fault.h"

const struct request_fault request_faults[] = {
    [BAD_REQUEST_LINE] = { 400, "the request line must be METHOD TARGET HTTP/1.1, with single "
                                "spaces between them" },
    [BAD_VERSION] = { 505, "the version must be HTTP/1.1 or HTTP/1.0" },
    [BAD_LINE_END] = { 400, "a line does not end with CR LF" },
    [BAD_FOLD] = { 400, "a header line begins with a space or tab: a value must be on one line" },
    [BAD_BLANK] = { 400, "a header's name is followed by a space or tab instead of its colon" },
    [BAD_NAME] = { 400,
                   "a header's name is empty or contains a character that is not allowed there" },
    [BAD_VALUE] = { 400, "a header's value contains a control character" },
    [BAD_LENGTH] = { 400, "Content-Length must be a number of at most 18 decimal digits" },
    [BAD_CODING] = { 400, "the last coding in Transfer-Encoding must be chunked" },
    [UNKNOWN_CODING] = { 501, "the only supported Transfer-Encoding is chunked" },
    [OLD_CODING] = { 400, "HTTP/1.0 has no Transfer-Encoding" },
    [TWICE] = { 400, "the header Content-Length or Transfer-Encoding occurs twice" },
    [CONTRADICTION] = { 400, "a request cannot have both Content-Length and Transfer-Encoding" },
    [BAD_TRAILER] = { 400, "Content-Length and Transfer-Encoding cannot follow the body" },
    [BAD_CHUNK] = { 400,
                    "a chunk must consist of its size in at most 15 hexadecimal digits, CR LF, its "
                    "bytes and CR LF; an extension can have at most 255 bytes" },
    [TOO_LONG] = { 431, "the request line and the headers are too long" },
};
