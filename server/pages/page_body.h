/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a POST to a page. It is a form. If the form can contain a file (multipart/form-data),
 * the body is written to the disk as it arrives. */
#pragma once

#include "server/http/body_file.h"
#include "server/pages/multipart.h"

struct exchange;
struct page_server;

#define PAGE_BODY_FILE_MAX ((size_t)64 << 20) /* maximum size of such a body, in bytes */

struct page_body {
    /* "": the body is not multipart/form-data, or nothing was received yet */
    char boundary[MULTIPART_BOUNDARY_SIZE];
    struct page_server *server; /* the server that counts this body in `files`; NULL: none */
    struct body_file stored;
    const char *mapped; /* NULL: nothing is mapped */
    const char *file;   /* the file in the form, within `mapped`; NULL: none */
    size_t file_bytes;
};

/* Receives a piece of a body that can contain a file. Call it on the loop's thread. False: the
 * request was refused. */
bool page_body_add(struct page_body *body, struct exchange *exchange, struct page_server *server,
                   const char *bytes, size_t size);
/* Reads the form from the stored body or, if nothing was stored, from the body `in_memory`. */
CHECKED bool page_body_read(struct page_body *body, const struct text *in_memory, struct form *form,
                            struct error *error);
void page_body_finish(struct page_body *body);
