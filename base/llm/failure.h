/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which a request to a model server can fail: one set of names for the load generator,
 * health checks and reports. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum failure {
    FAILURE_NONE,
    FAILURE_DNS,
    FAILURE_CONNECT_REFUSED,
    FAILURE_CONNECT_TIMEOUT,
    FAILURE_TLS,
    FAILURE_SEND,
    FAILURE_REFUSED_400,    /* other 4xx: the server considers the request invalid */
    FAILURE_AUTH,           /* 401 or 403 */
    FAILURE_NOT_FOUND,      /* 404: wrong path, or no such model */
    FAILURE_TOO_LONG,       /* 413, or the request exceeds the model's context */
    FAILURE_RATE_LIMITED,   /* 429 */
    FAILURE_OVERLOADED_503, /* 503 */
    FAILURE_SERVER_ERROR,   /* other 5xx, or 424 */
    FAILURE_PROTOCOL,       /* unexpected status, content type, bytes or size */
    FAILURE_STREAM_ERROR,   /* an error event inside a 200 stream */
    FAILURE_TRUNCATED,      /* the stream ended with neither [DONE] nor a finish reason */
    FAILURE_ABORTED,        /* the answer's finish reason is abort, error, content_filter, ... */
    FAILURE_SHORT_INPUT,    /* the server truncated the prompt: it counted too few tokens */
    FAILURE_SHORT_OUTPUT,   /* fewer output tokens than required */
    FAILURE_EMPTY,          /* a complete answer without any output */
    FAILURE_TTFT_TIMEOUT,   /* no first token in time */
    FAILURE_IDLE_TIMEOUT,   /* no bytes for too long */
    FAILURE_TOTAL_TIMEOUT,  /* the whole answer took too long */
    FAILURE_RESET,          /* the connection broke */
    FAILURE_CANCELLED,      /* stopped by us */
    FAILURE_CLIENT_LIMIT,   /* this machine ran out of descriptors, ports, memory, ... */
    FAILURE_COUNT,
};

const char *failure_name(enum failure failure); /* "too_long", ...; a static string */
/* The class of an HTTP status; FAILURE_NONE for 2xx. It is FAILURE_TOO_LONG, not
 * FAILURE_REFUSED_400 or FAILURE_SERVER_ERROR, if the start of the body has a phrase such as vLLM's
 * "maximum context length". */
enum failure failure_of_status(long status, const char *body, size_t body_length);
/* The class of an error inside a stream: FAILURE_TOO_LONG if the message has such a phrase, else
 * FAILURE_STREAM_ERROR. SGLang and some gateways report only in the stream that a prompt is too
 * long. */
enum failure failure_in_stream(const char *message, size_t length);
/* Finds the message in a server's error: {"error": {"message": ...}} from OpenAI and similar
 * servers, {"error": ...} from TGI and Ollama, {"message": ...} from older versions of vLLM,
 * {"detail": ...} from FastAPI. Borrowed from `body`; NULL: there is none. */
const char *failure_message(const json_t *body);
