/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/imports: the results of another tool as a file, streamed to the disk and read from
 * there. The query has what run_import takes beside it: name, format, model, ... */
#pragma once

#include <stddef.h>

struct exchange;

#define UPLOAD_LIMIT_BYTES ((size_t)64 << 20)

/* A piece of the body, on the loop's thread; what cannot be kept is answered. */
void upload_take(struct exchange *exchange, const char *bytes, size_t size);
/* The body is whole: answers as run_import does, 201 for a new run, 200 for one that was known. */
void upload_serve(struct exchange *exchange);
/* The same for dataset_import. */
void upload_serve_dataset(struct exchange *exchange);
