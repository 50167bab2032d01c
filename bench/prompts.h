/* The prompts of a cell: a head that no other request has, and a body out of one arena of random
 * pieces that all share without a copy. */
#pragma once

#include "base/digest.h"
#include "bench/workload.h"

#define PROMPT_HEAD_PIECES 32 /* two blocks of vLLM's prefix cache */

struct prompts; /* immutable once created: any thread may use it */

/* INVALID as workload_count. Free with prompts_destroy. */
bool prompts_create(const struct workload *workload, const char *model, uint64_t seed,
                    int64_t input_tokens, int64_t output_tokens, struct prompts **out,
                    struct error *error);
void prompts_destroy(struct prompts *prompts);

/* SHA-256 of specification, seed, shape and arena: of all that is random but for the heads. */
void prompts_digest(const struct prompts *prompts, char out[DIGEST_TEXT_SIZE]);

struct prompt_part {
    const char *bytes;
    size_t length;
};

/* One request's body: `parts` one after the other. Valid as long as `prompts`. */
struct prompt {
    struct prompt_part parts[4];
    size_t length;
    size_t part, offset; /* how far it was read */
    char head[PROMPT_HEAD_PIECES * WORKLOAD_PIECE_SIZE];
};

/* The prompt number `index` of all that `nonce` stands for (one attempt at a cell): others have
 * other heads. */
void prompt_make(const struct prompts *prompts, uint64_t nonce, uint64_t index, struct prompt *out);
size_t prompt_read(struct prompt *prompt, char *out, size_t size); /* 0 at the end */
void prompt_rewind(struct prompt *prompt);
