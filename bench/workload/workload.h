/* SPDX-License-Identifier: Apache-2.0 */
/* How to make prompts of a requested length for one server, and which request fields that server
 * accepts. Both are determined once for each server in a sweep (prompt_calibration.h) and stored
 * with the sweep.
 *
 * A generated prompt is a sequence of pieces: token ids if the API and the server accept them, else
 * words or letters. It has overhead_tokens + tokens_per_piece x (number of pieces) tokens. */
#pragma once

#include "bench/plan/plan.h"

#define WORKLOAD_PIECES 1024
#define WORKLOAD_PIECE_SIZE 12 /* up to 11 characters (a-z, 0-9) and a NUL */
#define WORKLOAD_SAMPLING_SIZE 2048
#define WORKLOAD_LIMITS_SIZE 160

enum prompt_form { PROMPT_IDS, PROMPT_WORDS };

/* Request fields that the server accepts, besides model, prompt, sampling and stream. */
enum request_field {
    FIELD_MAX_TOKENS = 1,
    FIELD_MAX_COMPLETION_TOKENS = 2,
    FIELD_STREAM_USAGE = 4, /* stream_options.include_usage */
    FIELD_IGNORE_EOS = 8,
    FIELD_MIN_TOKENS = 16,
    FIELD_CHUNK_USAGE = 32, /* stream_options.continuous_usage_stats; needs FIELD_STREAM_USAGE */
    FIELD_SEED = 64,
};

struct workload {
    enum bench_api api;
    enum prompt_form form;
    char source[32]; /* how the pieces were found */
    /* Tokens that a prompt has besides those of its pieces: BOS, the chat template and, in a prompt
     * of words, the "a" before the first piece. */
    int64_t overhead_tokens;
    double tokens_per_piece;               /* on average; 1 if the server reports no token counts */
    unsigned fields;                       /* a bitwise OR of enum request_field */
    bool reports_usage;                    /* streams contain the server's token counts */
    char sampling[WORKLOAD_SAMPLING_SIZE]; /* members of a request's JSON; "": temperature 0 */
    size_t piece_count;
    char pieces[WORKLOAD_PIECES][WORKLOAD_PIECE_SIZE];
};

/* Returns all members except the sampling, which comes from the plan; new reference. */
json_t *workload_to_json(const struct workload *workload);
/* Like workload_to_json(), but for a fingerprint: instead of the pieces, it has their number and a
 * digest of them. New reference. */
json_t *workload_specification(const struct workload *workload);
/* Reads what workload_to_json wrote. INVALID if the overhead, the tokens per piece or the pieces
 * are missing or invalid. */
CHECKED bool workload_from_json(const json_t *json, struct workload *out, struct error *error);

/* Sets the sampling to that of the plan. If the plan allows answers to end early, removes the
 * fields that would prevent that. */
void workload_apply_plan(struct workload *workload, const struct plan *plan);

/* Returns the number of tokens in the shortest possible prompt. */
int64_t workload_shortest(const struct workload *workload);
/* The largest values among the servers that get the same prompts. */
struct workload_room {
    int64_t overhead_tokens; /* tokens that the server itself adds to a prompt */
    int64_t shortest_tokens; /* tokens in the shortest possible prompt */
};
/* Raises each value to at least this workload's. */
void workload_room_widen(struct workload_room *room, const struct workload *workload);
/* Computes how many pieces make a prompt of `input_tokens` tokens. INVALID if the tokens that the
 * server itself adds leave no room for a piece. */
CHECKED bool workload_count_pieces(const struct workload *workload, int64_t input_tokens,
                                   int64_t *pieces, struct error *error);

/* The parts of a request's JSON, in this order: workload_open, workload_limits, workload_lead, the
 * pieces, workload_close. Each piece has a workload_separator before it, except for the first token
 * id of a prompt. If a prompt is a given text, not pieces, workload_text_lead and
 * workload_text_close replace workload_lead and workload_close. */
void workload_open(const struct workload *workload, const char *model, bool stream,
                   struct text *out);
/* Writes the limits on the answer's length, and the seed. Omits fields that the server does not
 * accept. Returns the number of bytes written. */
size_t workload_limits(const struct workload *workload, int64_t output_tokens, uint64_t seed,
                       char out[WORKLOAD_LIMITS_SIZE]);
const char *workload_lead(const struct workload *workload);
const char *workload_text_lead(const struct workload *workload);
const char *workload_text_close(const struct workload *workload);
const char *workload_close(const struct workload *workload);
char workload_separator(const struct workload *workload);
/* "/v1/completions" or "/v1/chat/completions". */
const char *workload_path(enum bench_api api);
