/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/tokenize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "bench/workload/words.h"

#define FEWEST_IDS 16
#define LARGEST_ID 100000000

/* The tokenize APIs of model servers. */
struct dialect {
    const char *name, *path, *field;
    bool names_model; /* the request names the model, and asks to add no special tokens */
};

static const struct dialect dialects[] = {
    { "tokenize (vLLM, SGLang)", "/tokenize", "prompt", true },
    { "tokenize (llama.cpp)", "/tokenize", "content", false },
    { "tokenize (llama-cpp-python)", "/extras/tokenize", "input", true },
};

#define DIALECTS (sizeof dialects / sizeof *dialects)

static void write_request(const struct asker *asker, const struct dialect *dialect,
                          struct text *out)
{
    text_add_char(out, '{');
    if (dialect->names_model) {
        text_add(out, "\"model\":");
        json_add_string(out, asker->endpoint->model, strlen(asker->endpoint->model));
        text_add(out, ",\"add_special_tokens\":false,");
    }
    text_addf(out, "\"%s\":\"a", dialect->field);
    for (size_t i = 0; i < WORDS_COUNT; i++)
        text_addf(out, " %s", words[i]);
    text_add(out, "\"}");
}

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

/* Collects each id once. Skips the first and the last token, which a tokenizer may have added.
 * Returns the number of ids. */
static size_t collect_ids(const json_t *tokens, int64_t *ids)
{
    size_t count = 0, kept = 0;

    for (size_t i = 1; i + 1 < json_array_size(tokens) && count < WORKLOAD_PIECES; i++) {
        const json_t *token = json_array_get(tokens, i);

        if (json_is_integer(token) && json_integer_value(token) >= 0
            && json_integer_value(token) < LARGEST_ID)
            ids[count++] = json_integer_value(token);
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || ids[kept - 1] != ids[i])
            ids[kept++] = ids[i];
    return kept;
}

static bool read_ids(const struct outbound_response *response, const struct dialect *dialect,
                     struct workload *workload)
{
    FREE_AUTO int64_t *ids = memory_zeroed(WORKLOAD_PIECES, sizeof *ids);
    json_auto_t *json = NULL;
    struct error ignored;
    size_t count;

    if (!json_parse(text_string(&response->body), response->body.length, &json, &ignored))
        return false;
    count = collect_ids(json_object_get(json, "tokens"), ids);
    if (count < FEWEST_IDS)
        return false;
    for (size_t i = 0; i < count; i++)
        snprintf(workload->pieces[i], WORKLOAD_PIECE_SIZE, "%d", (int)ids[i]);
    workload->piece_count = count;
    text_copy(workload->source, sizeof workload->source, dialect->name);
    return true;
}

bool tokenize_words(const struct asker *asker, struct workload *workload, struct error *error)
{
    bool done = false;

    for (size_t i = 0; i < DIALECTS && !done; i++) {
        struct outbound_response response = { 0 };
        TEXT_AUTO body = { 0 };

        write_request(asker, &dialects[i], &body);
        done = probe_request_post(asker, dialects[i].path, &body, &response, error)
               && read_ids(&response, &dialects[i], workload);
        outbound_response_finish(&response);
        if (error->kind == ERROR_CANCELLED)
            return false;
    }
    return done || error_set(error, ERROR_NOT_FOUND, "the server returns no token ids, or too few");
}
