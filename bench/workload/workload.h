/* SPDX-License-Identifier: Apache-2.0 */
/* How prompts of a wanted length are made for one server, and which fields its requests may have:
 * found once per sweep (prompt_calibration.h) and kept with it.
 *
 * A prompt is a sequence of pieces: token ids if the server takes arrays of them, else words.
 * tokens = overhead_tokens + tokens_per_piece x pieces, by the server's own count. */
#pragma once

#include "bench/plan/plan.h"

#define WORKLOAD_PIECES 1024
#define WORKLOAD_PIECE_SIZE 12 /* [a-z0-9], and NUL */
#define WORKLOAD_SAMPLING_SIZE 2048
#define WORKLOAD_LIMITS_SIZE 160

enum prompt_form { PROMPT_IDS, PROMPT_WORDS };

/* Fields other than model, prompt, sampling and stream that the server accepts. */
enum request_field {
    FIELD_MAX_TOKENS = 1,
    FIELD_MAX_COMPLETION_TOKENS = 2,
    FIELD_STREAM_USAGE = 4, /* stream_options.include_usage */
    FIELD_IGNORE_EOS = 8,
    FIELD_MIN_TOKENS = 16,
    FIELD_CHUNK_USAGE = 32, /* stream_options.continuous_usage_stats; with FIELD_STREAM_USAGE */
    FIELD_SEED = 64,
};

struct workload {
    enum bench_api api;
    enum prompt_form form;
    char source[32];         /* how the pieces were found */
    int64_t overhead_tokens; /* tokens of a BOS token, the chat template and the first word */
    double tokens_per_piece; /* 1: lengths are exact */
    unsigned fields;         /* enum request_field */
    bool reports_usage;      /* streams end with the server's token counts */
    char sampling[WORKLOAD_SAMPLING_SIZE]; /* members of a request; "": temperature 0 */
    size_t piece_count;
    char pieces[WORKLOAD_PIECES][WORKLOAD_PIECE_SIZE];
};

/* New references. The specification is the part that belongs in a fingerprint: the pieces as
 * their digest. */
json_t *workload_to_json(const struct workload *workload);
json_t *workload_specification(const struct workload *workload);
/* Reads what workload_to_json wrote, which is everything but the sampling: that comes from the
 * plan. */
CHECKED bool workload_from_json(const json_t *json, struct workload *out, struct error *error);

/* Sets the plan's sampling, and omits the fields that would prevent answers from ending early if
 * the plan allows that. */
void workload_take_plan(struct workload *workload, const struct plan *plan);

/* Tokens of the shortest possible prompt. */
int64_t workload_shortest(const struct workload *workload);
/* The tokens that servers themselves add to a prompt, and their shortest prompt: the largest values
 * of all servers that get the same prompts. Zero: there are no other servers. */
struct workload_room {
    int64_t overhead_tokens, shortest_tokens;
};
void workload_room_widen(struct workload_room *room, const struct workload *workload);
/* How many pieces a prompt of this many tokens has. INVALID, with the shortest possible length, if
 * the server's own tokens leave no room for one. */
CHECKED bool workload_count(const struct workload *workload, int64_t input_tokens, int64_t *pieces,
                            struct error *error);

/* A request's JSON: its beginning, the limits of its answer, the text before the prompt's first
 * piece, and the text after the last one. Pieces go between them, each after workload_separator(),
 * but no separator before the first id. */
void workload_open(const struct workload *workload, const char *model, bool stream,
                   struct text *out);
/* Returns their number of bytes. */
size_t workload_limits(const struct workload *workload, int64_t output_tokens, uint64_t seed,
                       char out[WORKLOAD_LIMITS_SIZE]);
const char *workload_lead(const struct workload *workload);
/* The same around a prompt that is one text. */
const char *workload_text_lead(const struct workload *workload);
const char *workload_text_close(const struct workload *workload);
const char *workload_close(const struct workload *workload);
char workload_separator(const struct workload *workload);
/* "/v1/completions" or "/v1/chat/completions". */
const char *workload_path(enum bench_api api);
