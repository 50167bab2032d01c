/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/prompt_calibration.h"

#include <stdio.h>
#include <string.h>

#include "base/core/random.h"
#include "bench/plan/plan_workload.h"
#include "bench/workload/tokenize.h"
#include "bench/workload/words.h"

#define SHORT_PIECES 8
#define LONG_PIECES 40
/* If a server counts fewer tokens per word than this, on average, its counts are not believed: real
 * tokenizers make at least one token of a word. */
#define FEWEST_PER_WORD 0.1
#define FEWEST_WORDS 16 /* enough to make more different prompts than are ever sent */
#define LETTERS 26
#define SMALLEST_GROUP 8   /* a group of this many words, or fewer, is not divided */
#define QUESTIONS_LIMIT 32 /* the server counts the tokens of at most this many groups */
#define TRIAL_TOKENS 1024  /* the longest answer that is requested before the first cell */

/* Whether the status says that the server refuses the request itself. 413: the request is longer
 * than the context; 500: some servers fail on fields that they do not know. */
static bool is_refusal(long status)
{
    return status == 400 || status == 413 || status == 422 || status == 500 || status == 501;
}

/* A 404 may be about the path or about the model: the server's message shows which. */
static CHECKED bool explain_missing(enum bench_api api, struct error *error)
{
    struct error cause = *error;

    return error_set(error, ERROR_UPSTREAM,
                     "%s cannot be measured; if the server has only the other API, sweep with "
                     "\"api\": \"%s\" (%.300s)",
                     workload_path(api), api == BENCH_CHAT ? "completions" : "chat", cause.message);
}

/* ---- Prompts of token ids -------------------------------------------------------------------- */

/* Whether the server counts each id as one token, apart from a constant overhead, which this
 * function sets. Also true if the server reports no count. */
static CHECKED bool verify_ids(const struct asker *asker, struct workload *workload,
                               struct error *error)
{
    int64_t few, many;
    long status;

    if (!probe_request_count(asker, workload, NULL, SHORT_PIECES, &few, &status, error)
        || !probe_request_count(asker, workload, NULL, LONG_PIECES, &many, &status, error))
        return false;
    if (few < 0) { /* the server reports no count, but ids are tokens in any case */
        workload->overhead_tokens = 0;
        return true;
    }
    workload->overhead_tokens = few - SHORT_PIECES;
    return few >= SHORT_PIECES && many - few == LONG_PIECES - SHORT_PIECES;
}

static CHECKED bool learn_ids(const struct asker *asker, struct workload *workload,
                              struct error *error)
{
    struct workload ids = *workload;

    ids.form = PROMPT_IDS;
    ids.tokens_per_piece = 1;
    if (!tokenize_words(asker, &ids, error) || !verify_ids(asker, &ids, error))
        return false;
    *workload = ids;
    return true;
}

/* ---- Prompts of words ------------------------------------------------------------------------ */

/* A search for the words that are one token each. It uses the server's token counts for groups of
 * words. */
struct word_search {
    const struct asker *asker;
    struct workload *workload;            /* its pieces are the words to search */
    size_t good[WORDS_COUNT], good_count; /* indices of the words that are one token */
    int questions;
};

static CHECKED bool count_group(struct word_search *search, size_t first, size_t count,
                                int64_t *tokens, struct error *error)
{
    size_t which[WORDS_COUNT];
    long status;

    for (size_t i = 0; i < count; i++)
        which[i] = first + i;
    search->questions++;
    if (!probe_request_count(search->asker, search->workload, which, count, tokens, &status, error))
        return false;
    *tokens -= search->workload->overhead_tokens;
    return true;
}

/* Adds the words of the group to search->good if the group has as many tokens as words; otherwise,
 * searches its two halves, unless the group is small or QUESTIONS_LIMIT is reached. */
static CHECKED bool search_group(struct word_search *search, size_t first, size_t count,
                                 int64_t tokens, struct error *error)
{
    size_t half = count / 2;
    int64_t left;

    if (tokens == (int64_t)count) {
        for (size_t i = 0; i < count; i++)
            search->good[search->good_count++] = first + i;
        return true;
    }
    if (count <= SMALLEST_GROUP || search->questions >= QUESTIONS_LIMIT)
        return true;
    return count_group(search, first, half, &left, error)
           && search_group(search, first, half, left, error)
           && search_group(search, first + half, count - half, tokens - left, error);
}

static void keep_words(struct workload *workload, const size_t *which, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memmove(workload->pieces[i], workload->pieces[which[i]], WORKLOAD_PIECE_SIZE);
    workload->piece_count = count;
}

static void set_words(struct workload *workload, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_copy(workload->pieces[i], WORKLOAD_PIECE_SIZE, words[i]);
    workload->piece_count = count;
    workload->form = PROMPT_WORDS;
    workload->tokens_per_piece = 1;
}

/* Sets *right to whether the words also have one token each when they are in random order. */
static CHECKED bool verify_words(const struct asker *asker, const struct workload *workload,
                                 bool *right, struct error *error)
{
    size_t which[LONG_PIECES];
    struct generator generator;
    int64_t tokens;
    long status;

    generator_init(&generator, 1);
    for (size_t i = 0; i < LONG_PIECES; i++)
        which[i] = generator_below(&generator, workload->piece_count);
    if (!probe_request_count(asker, workload, which, LONG_PIECES, &tokens, &status, error))
        return false;
    *right = tokens == workload->overhead_tokens + LONG_PIECES;
    return true;
}

/* Tries single letters: even a tokenizer that splits words usually has a token for a space and a
 * letter together. */
static CHECKED bool choose_letters(const struct asker *asker, struct workload *workload,
                                   bool *right, struct error *error)
{
    struct workload letters = *workload;
    int64_t tokens;
    long status;

    for (size_t i = 0; i < LETTERS; i++)
        snprintf(letters.pieces[i], WORKLOAD_PIECE_SIZE, "%c", (char)('a' + i));
    letters.piece_count = LETTERS;
    text_copy(letters.source, sizeof letters.source, "letters of one token");
    if (!probe_request_count(asker, &letters, NULL, LETTERS, &tokens, &status, error))
        return false;
    *right = tokens == workload->overhead_tokens + LETTERS;
    if (*right && !verify_words(asker, &letters, right, error))
        return false;
    if (*right)
        *workload = letters;
    return true;
}

static CHECKED bool choose_words(const struct asker *asker, struct workload *workload,
                                 int64_t all_tokens, struct error *error)
{
    struct word_search search = { .asker = asker, .workload = workload };
    struct workload chosen = *workload;
    bool right = false;

    if (!search_group(&search, 0, workload->piece_count, all_tokens, error))
        return false;
    keep_words(&chosen, search.good, search.good_count);
    if (search.good_count >= FEWEST_WORDS && !verify_words(asker, &chosen, &right, error))
        return false;
    if (right) {
        text_copy(chosen.source, sizeof chosen.source, "words of one token");
        *workload = chosen;
        return true;
    }
    if (!choose_letters(asker, workload, &right, error))
        return false;
    if (right)
        return true;
    workload->tokens_per_piece = (double)all_tokens / (double)workload->piece_count;
    if (workload->tokens_per_piece < FEWEST_PER_WORD)
        return error_set(
            error, ERROR_UPSTREAM,
            "the server counts %ld tokens in %zu words, which is impossible: no prompt "
            "of a known length can be made for it",
            (long)all_tokens, workload->piece_count);
    text_copy(workload->source, sizeof workload->source, "words by average");
    return true;
}

/* Makes all words the pieces of the workload, or fewer if the server refuses such a long prompt.
 * Then counts the tokens of a prompt that consists of them. */
static CHECKED bool count_words(const struct asker *asker, struct workload *workload,
                                int64_t *tokens, struct error *error)
{
    long status;

    for (size_t count = WORDS_COUNT; count >= FEWEST_WORDS; count /= 2) {
        set_words(workload, count);
        if (probe_request_count(asker, workload, NULL, count, tokens, &status, error))
            return true;
        if (!is_refusal(status))
            return false;
    }
    return false;
}

/* Finds words or letters whose number of tokens is known, at least on average. If the server
 * reports no counts, counts each word as one token. Every prompt of words begins with the word "a",
 * which is part of the overhead, like the chat template. */
static CHECKED bool learn_words(const struct asker *asker, struct workload *workload,
                                struct error *error)
{
    int64_t none, all;
    long status;

    if (!count_words(asker, workload, &all, error)
        || !probe_request_count(asker, workload, NULL, 0, &none, &status, error))
        return false;
    if (none < 0 || all <= none) {
        workload->overhead_tokens = 1;
        text_copy(workload->source, sizeof workload->source, "words, tokens not reported");
        return true;
    }
    workload->overhead_tokens = none;
    return choose_words(asker, workload, all - none, error);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* Whether the status or the message says that the server lacks this API. vLLM answers with a 400
 * and a message that a model "does not support Chat Completions API", or that there is no chat
 * template. */
static bool is_missing(long status, const struct error *error)
{
    static const char *const phrases[] = { "not support", "unsupported", "not implemented",
                                           "not available", "chat template" };

    if (status == 404 || status == 405 || status == 501)
        return true;
    if (!is_refusal(status) || strcasestr(error->message, "max_") != NULL
        || strcasestr(error->message, "temperature") != NULL)
        return false;
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strcasestr(error->message, phrases[i]) != NULL)
            return strcasestr(error->message, "completion") != NULL
                   || strcasestr(error->message, "chat") != NULL;
    return false;
}

/* Finds the name of the field that limits the output; every request needs this field. */
static CHECKED bool learn_limit(const struct asker *asker, struct workload *workload,
                                struct error *error)
{
    int64_t tokens;
    long status;

    set_words(workload, WORDS_COUNT);
    workload->fields = FIELD_MAX_TOKENS;
    if (probe_request_count(asker, workload, NULL, SHORT_PIECES, &tokens, &status, error))
        return true;
    if (is_missing(status, error))
        return explain_missing(workload->api, error);
    if (!is_refusal(status) || workload->api != BENCH_CHAT)
        return false;
    workload->fields = FIELD_MAX_COMPLETION_TOKENS;
    return probe_request_count(asker, workload, NULL, SHORT_PIECES, &tokens, &status, error);
}

/* Finds a first request that the server accepts. Some servers refuse a temperature of 0, which is
 * opsbrain's default; then this tries again with `sampling`. */
static CHECKED bool learn_first_request(const struct asker *asker, const char *sampling,
                                        struct workload *workload, struct error *error)
{
    struct error cause;

    if (learn_limit(asker, workload, error))
        return true;
    if (strstr(error->message, "temperature") == NULL)
        return false;
    cause = *error;
    if (sampling[0] == '\0')
        return error_set(error, ERROR_UPSTREAM,
                         "the server refuses a \"temperature\" of 0: set another temperature in "
                         "the plan (%.300s)",
                         cause.message);
    text_copy(workload->sampling, sizeof workload->sampling, sampling);
    return learn_limit(asker, workload, error);
}

/* Tries the fields in `wanted` together; if the server refuses them, tries them one by one. */
static CHECKED bool learn_fields(const struct asker *asker, struct workload *workload,
                                 struct error *error)
{
    static const enum request_field wanted[] = { FIELD_STREAM_USAGE, FIELD_IGNORE_EOS,
                                                 FIELD_MIN_TOKENS, FIELD_MAX_COMPLETION_TOKENS };
    size_t count = workload->api == BENCH_CHAT ? 4 : 3;
    unsigned fewest = workload->fields;
    long status;

    for (size_t i = 0; i < count; i++)
        workload->fields |= wanted[i];
    if (probe_request_stream(asker, workload, &workload->reports_usage, &status, error))
        return true;
    workload->fields = fewest;
    if (!is_refusal(status))
        return false;
    for (size_t i = 0; i < count; i++) {
        workload->fields |= wanted[i];
        if (probe_request_stream(asker, workload, &workload->reports_usage, &status, error))
            continue;
        if (!is_refusal(status))
            return false;
        workload->fields &= ~(unsigned)wanted[i];
    }
    return probe_request_stream(asker, workload, &workload->reports_usage, &status, error);
}

/* If chunks do not report their tokens, sets the field that requests usage in every chunk, unless
 * the server does not support it. Does so even if each chunk has one token here: under load, chunks
 * may carry several, which one answer from an idle server does not show. */
static CHECKED bool learn_chunks(const struct asker *asker, struct workload *workload,
                                 struct error *error)
{
    struct stream_shape shape;
    long status;

    if (!workload->reports_usage || (workload->fields & FIELD_STREAM_USAGE) == 0)
        return true;
    if (!probe_request_shape(asker, workload, &shape, &status, error))
        return error->kind != ERROR_CANCELLED;
    if (shape.reports_chunk_tokens)
        return true;
    workload->fields |= FIELD_CHUNK_USAGE;
    shape.reports_chunk_tokens = false;
    if (!probe_request_shape(asker, workload, &shape, &status, error)
        && error->kind == ERROR_CANCELLED)
        return false;
    if (!shape.reports_chunk_tokens)
        workload->fields &= ~(unsigned)FIELD_CHUNK_USAGE;
    return true;
}

bool prompt_calibration_workload(const struct asker *asker, enum bench_api api,
                                 const char *sampling, struct workload *out, struct error *error)
{
    struct workload workload = { .api = api };

    if (!learn_first_request(asker, sampling, &workload, error))
        return false;
    if (api == BENCH_CHAT || !learn_ids(asker, &workload, error)) {
        if (api != BENCH_CHAT && error->kind == ERROR_CANCELLED)
            return false;
        if (!learn_words(asker, &workload, error))
            return false;
    }
    if (!learn_fields(asker, &workload, error) || !learn_chunks(asker, &workload, error))
        return false;
    *out = workload;
    return true;
}

/* ---- Sampling -------------------------------------------------------------------------------- */

/* Adds a seed, if the server accepts one, so that random sampling is repeatable. */
static CHECKED bool learn_seed(const struct asker *asker, struct workload *workload,
                               struct error *error)
{
    long status;

    workload->fields |= FIELD_SEED;
    if (probe_request_stream(asker, workload, &workload->reports_usage, &status, error))
        return true;
    workload->fields &= ~(unsigned)FIELD_SEED;
    return is_refusal(status);
}

static CHECKED bool try_sampling(const struct asker *asker, struct workload *workload,
                                 struct error *error)
{
    struct error cause;
    long status;

    if (probe_request_stream(asker, workload, &workload->reports_usage, &status, &cause))
        return true;
    if (!is_refusal(status)) {
        *error = cause;
        return false;
    }
    return error_set(error, ERROR_INVALID, "the server refuses the plan's sampling (%.160s): %s",
                     workload->sampling, cause.message);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* Whether the model ended an answer after fewer than `wanted` tokens. Also returns false if there
 * was no answer: the cells will show the reason. */
static CHECKED bool ends_early(const struct asker *asker, const struct workload *workload,
                               size_t pieces, int64_t wanted, int64_t *got, struct error *error)
{
    struct stream_ending ending;
    long status;

    if (!probe_request_ending(asker, workload, pieces, wanted, &ending, &status, error))
        return false;
    *got = ending.tokens;
    return ending.by_model && ending.tokens < wanted;
}

/* INVALID if the server ignores the fields that prevent answers from ending early. Most engines
 * that do not know these fields ignore them silently, so this can be seen only from answers. One
 * short answer may be chance, so two are required. */
static CHECKED bool check_lengths(const struct asker *asker, const struct plan *plan,
                                  const struct workload *workload, struct error *error)
{
    int64_t longest = plan->output_tokens[plan->output_count - 1], first, second;
    int64_t wanted = longest < TRIAL_TOKENS ? longest : TRIAL_TOKENS;

    *error = (struct error){ 0 };
    if (plan->natural_output || !ends_early(asker, workload, SHORT_PIECES, wanted, &first, error)
        || !ends_early(asker, workload, LONG_PIECES, wanted, &second, error))
        return error->kind != ERROR_CANCELLED;
    return error_set(
        error, ERROR_INVALID,
        "the model ended two trial answers after %ld and %ld of %ld output tokens: the "
        "server respects neither ignore_eos nor min_tokens, so answers are shorter "
        "than planned; give natural_output true to let the model end its answers",
        first, second, wanted);
}

bool prompt_calibration_sampling(const struct asker *asker, const struct plan *plan,
                                 struct workload *workload, struct error *error)
{
    workload_apply_plan(workload, plan);
    if (plan_has_sampling(plan) && !try_sampling(asker, workload, error))
        return false;
    if (plan->temperature != 0 && !learn_seed(asker, workload, error))
        return false;
    return check_lengths(asker, plan, workload, error);
}
