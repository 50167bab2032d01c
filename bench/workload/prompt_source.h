/* SPDX-License-Identifier: Apache-2.0 */
/* The prompts of a cell, with the lengths that the plan requests. Each has a head that no other
 * request has, and a body from one arena of random pieces, which all share without copying. If the
 * plan shares prefixes, one of them comes before the head.
 *
 * Request `index` has the same lengths in every attempt and repetition and on every server: they
 * are drawn from the plan's seed alone and must fit the strictest of the compared servers, so that
 * all servers have the same work. Words, heads and prefixes are derived from the attempt's nonce:
 * nothing that was sent before is sent again. */
#pragma once

#include "base/core/digest.h"
#include "bench/workload/dataset.h"
#include "bench/workload/workload.h"

#define PROMPT_HEAD_PIECES 32 /* two blocks of vLLM's prefix cache */
#define PROMPT_PARTS 7

struct prompt_source; /* immutable once created: any thread may use it */

struct prompt_source_order {
    const struct workload *workload; /* borrowed */
    const struct plan *plan;         /* distributions, prefixes and seed */
    const char *model;
    int64_t input_tokens, output_tokens; /* of every request, or the mean */
    int64_t context_tokens;              /* drawn lengths are cut to it; 0: not known */
    struct workload_room room;           /* common to the servers it is compared with; zero: there
                                          * are none */
    uint64_t nonce;                      /* the attempt's nonce */
    const struct dataset *dataset; /* its prompts are sent; borrowed; NULL: prompts are generated */
    bool dataset_sent;             /* the server already received its prompts */
};

/* INVALID if prompts of this length cannot be made, or do not fit the context. Free with
 * prompt_source_destroy. */
CHECKED bool prompt_source_create(const struct prompt_source_order *order,
                                  struct prompt_source **out, struct error *error);
void prompt_source_destroy(struct prompt_source *prompts);
/* Number of the dataset's prompts that do not fit the context, or have no known lengths. */
size_t prompt_source_left_out(const struct prompt_source *prompts);

/* SHA-256 of specification, seed, shape and arena: everything random except heads and prefixes. */
void prompt_source_digest(const struct prompt_source *prompts, char out[DIGEST_TEXT_SIZE]);

/* The prompt and the lengths of one request. */
struct wanted {
    int64_t input_tokens, output_tokens; /* input -1: a text, whose tokens the server will report */
    int64_t shared_tokens; /* tokens of the input with which other prompts begin, too */
    bool may_stop;         /* the answer may be shorter */
    bool repeated;         /* the same prompt was sent before */
    bool cut;              /* a drawn length did not fit the context, or the shared part */
};

struct prompt_part {
    const char *bytes;
    size_t length;
};

/* One request's body: `parts` one after the other. Valid as long as `prompts`. */
struct bench_prompt {
    struct wanted wanted;
    struct prompt_part parts[PROMPT_PARTS];
    size_t length;
    size_t part, offset; /* how much of it has been read */
    char limits[WORKLOAD_LIMITS_SIZE];
    char head[PROMPT_HEAD_PIECES * WORKLOAD_PIECE_SIZE];
};

void prompt_source_make(const struct prompt_source *prompts, uint64_t index,
                        struct bench_prompt *out);
/* Returns the number of bytes; 0 at the end. */
size_t prompt_source_read(struct bench_prompt *prompt, char *out, size_t size);
void prompt_source_rewind(struct bench_prompt *prompt);
