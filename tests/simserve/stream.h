/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a sequence's output to the client, as SSE events or as one JSON body. */
#pragma once

#include "tests/simserve/model.h"

/* Sends the HTTP head of a stream and, if `role_early` is set, the role chunk. With the fault
 * slow_headers, sends only the status line, and holds back the headers. */
void stream_begin(struct sequence *sequence);
/* Sends the content chunk that is due now, with the next `tokens` tokens of the output. `last`: it
 * is the last content chunk (chunks with the finish_reason and the usage can follow). If the client
 * does not stream, only counts the tokens. */
void stream_content(struct sequence *sequence, int64_t tokens, bool last);
/* Ends the stream. Whether it ends with finish_reason, usage and [DONE] depends on the request, the
 * settings and the faults. If the client does not stream, sends the whole answer. */
void stream_end(struct sequence *sequence);
/* Sends an error event and [DONE], and ends the HTTP body. */
void stream_error(struct sequence *sequence);
/* Ends the HTTP body without another event. */
void stream_end_body(struct sequence *sequence);
/* Sends the bytes that were held back. */
void stream_flush(struct sequence *sequence);
