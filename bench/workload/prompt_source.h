/* SPDX-License-Identifier: Apache-2.0 */
/* The prompts of a cell: they are generated, with lengths from the plan or from a dataset, or their
 * texts come from a dataset. A generated prompt has its own head of random pieces, and a body that
 * is a section of the arena: one sequence of random pieces, which all prompts share without copying
 * it. If the plan has shared prefixes, one of them comes before the head.
 *
 * Request `index` has the same lengths in every attempt and repetition and on every server. They
 * depend only on the plan, on its dataset, and on the strictest limits of the compared servers, so
 * that all servers have the same work. Heads and prefixes are derived from the attempt's nonce, so
 * that no attempt sends the generated prompts of an earlier one. */
#pragma once

#include "base/core/digest.h"
#include "bench/workload/dataset.h"
#include "bench/workload/workload.h"

#define PROMPT_HEAD_PIECES 32 /* two blocks of vLLM's prefix cache */
#define PROMPT_PARTS 7

struct prompt_source; /* immutable once created: any thread can use it */

struct prompt_source_order {
    const struct workload *workload; /* borrowed */
    const struct plan *plan;         /* distributions, prefixes and seed */
    const char *model;
    int64_t input_tokens, output_tokens; /* of every request; the means, if lengths are drawn */
    /* The model's context length: drawn lengths are shortened so that they fit it; 0: not known. */
    int64_t context_tokens;
    struct workload_room room;     /* what all compared servers need; zero: use only `workload` */
    uint64_t nonce;                /* the attempt's nonce */
    const struct dataset *dataset; /* prompts or lengths; borrowed; NULL: none */
    bool dataset_sent;             /* the server may already have received the dataset's prompts */
};

/* INVALID if prompts of these lengths cannot be made, if the means of drawn lengths do not fit the
 * context, or if no prompt of the dataset can be sent. Free with prompt_source_destroy. */
CHECKED bool prompt_source_create(const struct prompt_source_order *order,
                                  struct prompt_source **out, struct error *error);
void prompt_source_destroy(struct prompt_source *prompts);
/* How many of the dataset's rows are not used: they do not fit the context, have no known lengths,
 * or are shorter than the shortest prompt that can be generated. */
size_t prompt_source_left_out(const struct prompt_source *prompts);

/* SHA-256 of the specifications of the workload and the plan, the lengths, and the arena. The
 * nonce, which differs between attempts, is not included. */
void prompt_source_digest(const struct prompt_source *prompts, char out[DIGEST_TEXT_SIZE]);

/* What one request asks for. */
struct wanted {
    int64_t input_tokens; /* -1: a text from a dataset; only the server can count its tokens */
    int64_t output_tokens;
    int64_t shared_tokens; /* tokens of the prefix that other prompts share */
    bool may_stop;         /* the answer may be shorter */
    bool repeated;         /* this row of a dataset may have been sent before */
    bool cut; /* a drawn length was too long for the context, or too short, and was changed */
};

struct prompt_part {
    const char *bytes;
    size_t length;
};

/* One request's body: its parts, one after the other. It borrows from the prompt source. */
struct bench_prompt {
    struct wanted wanted;
    struct prompt_part parts[PROMPT_PARTS];
    size_t length;       /* bytes of all parts */
    size_t part, offset; /* where prompt_source_read continues */
    char limits[WORKLOAD_LIMITS_SIZE];
    char head[PROMPT_HEAD_PIECES * WORKLOAD_PIECE_SIZE + 1];
};

/* Writes the body of request `index`. *out must not be copied: parts of it point into itself. */
void prompt_source_make(const struct prompt_source *prompts, uint64_t index,
                        struct bench_prompt *out);
/* Copies the next bytes of the body to `out`. Returns their number; 0 at the end. */
size_t prompt_source_read(struct bench_prompt *prompt, char *out, size_t size);
void prompt_source_rewind(struct bench_prompt *prompt); /* reads from the beginning again */
