/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a page's POST: a form, or a form with a file, which is received onto the disk. */
#pragma once

#include "server/http/body_file.h"
#include "server/pages/multipart.h"

struct exchange;
struct page_server;

#define PAGE_BODY_FILE_MAX ((size_t)64 << 20) /* bytes */

struct page_body {
    char boundary[MULTIPART_BOUNDARY_SIZE]; /* "": nothing was received yet */
    struct page_server *server;             /* counts it among the files; NULL: not counted */
    struct body_file stored;
    const char *mapped; /* NULL: nothing is */
    const char *file;   /* that the form came with, within `mapped`; NULL: none */
    size_t file_bytes;
};

/* A piece of a body that may hold a file; on the loop's thread. False: it was refused. */
bool page_body_add(struct page_body *body, struct exchange *exchange, struct page_server *server,
                   const char *bytes, size_t size);
/* Reads the form from the file, or from the exchange's body. */
CHECKED bool page_body_read(struct page_body *body, const struct text *in_memory, struct form *form,
                            struct error *error);
void page_body_finish(struct page_body *body);
