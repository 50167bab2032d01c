/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a sequence's output to the client: as SSE events, or as one JSON body. */
#pragma once

#include "tests/simserve/model.h"

/* Sends the head of a stream (a role chunk with it if asked to come early). */
void stream_begin(struct sequence *sequence);
/* One content chunk, due now: the next `tokens` tokens of the output, `last` if no more follow. For
 * a plain answer it only counts. */
void stream_content(struct sequence *sequence, int64_t tokens, bool last);
/* Sends finish_reason, usage and [DONE], or, if the client does not stream, the whole answer. */
void stream_end(struct sequence *sequence);
/* Sends an error event and [DONE]. */
void stream_error(struct sequence *sequence);
/* Ends the HTTP body without another event. */
void stream_cut(struct sequence *sequence);
/* Sends the bytes that were held back. */
void stream_flush(struct sequence *sequence);
