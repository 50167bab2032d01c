/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "bench/plan/plan_workload.h"

struct field_name {
    enum request_field field;
    const char *name;
};

static const struct field_name field_names[] = {
    { FIELD_MAX_TOKENS, "max_tokens" },
    { FIELD_MAX_COMPLETION_TOKENS, "max_completion_tokens" },
    { FIELD_STREAM_USAGE, "stream_options" },
    { FIELD_IGNORE_EOS, "ignore_eos" },
    { FIELD_MIN_TOKENS, "min_tokens" },
    { FIELD_CHUNK_USAGE, "continuous_usage_stats" },
    { FIELD_SEED, "seed" },
};

#define FIELDS (sizeof field_names / sizeof *field_names)

static const char *api_name(enum bench_api api)
{
    return api == BENCH_CHAT ? "chat" : "completions";
}

static const char *form_name(enum prompt_form form)
{
    return form == PROMPT_IDS ? "ids" : "words";
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *describe(const struct workload *workload)
{
    json_t *fields = json_array();

    for (size_t i = 0; i < FIELDS; i++)
        if (workload->fields & field_names[i].field)
            json_array_append_new(fields, json_string(field_names[i].name));
    return json_pack("{s:s, s:s, s:s, s:I, s:f, s:o, s:b}", "api", api_name(workload->api), "form",
                     form_name(workload->form), "source", workload->source, "overhead_tokens",
                     (json_int_t)workload->overhead_tokens, "tokens_per_piece",
                     workload->tokens_per_piece, "fields", fields, "tells_usage",
                     (int)workload->reports_usage);
}

json_t *workload_to_json(const struct workload *workload)
{
    json_t *json = describe(workload), *pieces = json_array();

    for (size_t i = 0; i < workload->piece_count; i++)
        json_array_append_new(pieces, json_string(workload->pieces[i]));
    json_object_set_new(json, "pieces", pieces);
    return json;
}

json_t *workload_specification(const struct workload *workload)
{
    json_t *json = describe(workload);
    char digest[DIGEST_TEXT_SIZE];
    TEXT_AUTO pieces = { 0 };

    for (size_t i = 0; i < workload->piece_count; i++)
        text_addf(&pieces, "%s\n", workload->pieces[i]);
    digest_sha256_text(pieces.data, pieces.length, digest);
    json_object_set_new(json, "piece_count", json_integer((json_int_t)workload->piece_count));
    json_object_set_new(json, "pieces_sha256", json_string(digest));
    return json;
}

static unsigned read_fields(const json_t *names)
{
    const json_t *name;
    unsigned fields = 0;
    size_t at;

    json_array_foreach(names, at, name)
        for (size_t i = 0; i < FIELDS; i++)
            if (json_is_string(name) && strcmp(json_string_value(name), field_names[i].name) == 0)
                fields |= field_names[i].field;
    return fields;
}

static bool is_piece(const char *string)
{
    size_t length = strspn(string, "abcdefghijklmnopqrstuvwxyz0123456789");

    return length > 0 && length < WORKLOAD_PIECE_SIZE && string[length] == '\0';
}

static CHECKED bool read_pieces(const json_t *pieces, struct workload *workload,
                                struct error *error)
{
    const json_t *piece;
    size_t i;

    if (json_array_size(pieces) < 1 || json_array_size(pieces) > WORKLOAD_PIECES)
        return error_set(error, ERROR_INVALID,
                         "the stored workload has %zu pieces, expected 1 to %d",
                         json_array_size(pieces), WORKLOAD_PIECES);
    json_array_foreach(pieces, i, piece) {
        if (!json_is_string(piece) || !is_piece(json_string_value(piece)))
            return error_set(
                error, ERROR_INVALID,
                "piece %zu (counted from 0) of the stored workload must be a string of "
                "1 to %d characters a-z or 0-9",
                i, WORKLOAD_PIECE_SIZE - 1);
        text_copy(workload->pieces[i], WORKLOAD_PIECE_SIZE, json_string_value(piece));
    }
    workload->piece_count = json_array_size(pieces);
    return true;
}

bool workload_from_json(const json_t *json, struct workload *out, struct error *error)
{
    struct workload workload = { 0 };

    workload.api =
        strcmp(json_get_text(json, "api", ""), "chat") == 0 ? BENCH_CHAT : BENCH_COMPLETIONS;
    workload.form = strcmp(json_get_text(json, "form", ""), "ids") == 0 ? PROMPT_IDS : PROMPT_WORDS;
    text_copy(workload.source, sizeof workload.source, json_get_text(json, "source", ""));
    workload.overhead_tokens = json_get_integer(json, "overhead_tokens", -1);
    workload.tokens_per_piece = json_get_number(json, "tokens_per_piece", 0);
    workload.fields = read_fields(json_object_get(json, "fields"));
    workload.reports_usage = json_get_boolean(json, "tells_usage", false);
    if (workload.overhead_tokens < 0 || !(workload.tokens_per_piece >= 0.01))
        return error_set(error, ERROR_INVALID,
                         "overhead_tokens or tokens_per_piece of the stored workload is missing or "
                         "invalid");
    if (!read_pieces(json_object_get(json, "pieces"), &workload, error))
        return false;
    *out = workload;
    return true;
}

/* ---- Requests -------------------------------------------------------------------------------- */

void workload_apply_plan(struct workload *workload, const struct plan *plan)
{
    TEXT_AUTO sampling = { 0 };

    plan_sampling(plan, &sampling);
    text_copy(workload->sampling, sizeof workload->sampling, text_string(&sampling));
    if (plan->natural_output)
        workload->fields &= ~(unsigned)(FIELD_IGNORE_EOS | FIELD_MIN_TOKENS);
}

int64_t workload_shortest(const struct workload *workload)
{
    return workload->overhead_tokens + lround(ceil(workload->tokens_per_piece));
}

void workload_room_widen(struct workload_room *room, const struct workload *workload)
{
    int64_t shortest = workload_shortest(workload);

    if (room->overhead_tokens < workload->overhead_tokens)
        room->overhead_tokens = workload->overhead_tokens;
    if (room->shortest_tokens < shortest)
        room->shortest_tokens = shortest;
}

bool workload_count_pieces(const struct workload *workload, int64_t input_tokens, int64_t *pieces,
                           struct error *error)
{
    double room = (double)(input_tokens - workload->overhead_tokens);
    int64_t count = llround(room / workload->tokens_per_piece);

    if (count < 1)
        return error_set(error, ERROR_INVALID,
                         "%ld input tokens are too few: the server itself adds %ld to a %s prompt, "
                         "so the shortest possible prompt has %ld",
                         input_tokens, workload->overhead_tokens, api_name(workload->api),
                         workload_shortest(workload));
    *pieces = count;
    return true;
}

void workload_open(const struct workload *workload, const char *model, bool stream,
                   struct text *out)
{
    bool has_sampling = workload->sampling[0] != '\0';
    unsigned fields = workload->fields;

    text_add(out, "{\"model\":");
    json_add_string(out, model, strlen(model));
    text_addf(out, ",%s,\"stream\":%s", has_sampling ? workload->sampling : "\"temperature\":0",
              stream ? "true" : "false");
    if (stream && (fields & FIELD_STREAM_USAGE))
        text_addf(out, ",\"stream_options\":{\"include_usage\":true%s}",
                  fields & FIELD_CHUNK_USAGE ? ",\"continuous_usage_stats\":true" : "");
    if (fields & FIELD_IGNORE_EOS)
        text_add(out, ",\"ignore_eos\":true");
}

size_t workload_limits(const struct workload *workload, int64_t output_tokens, uint64_t seed,
                       char out[WORKLOAD_LIMITS_SIZE])
{
    const struct {
        enum request_field field;
        const char *name;
        int64_t value;
    } limits[] = {
        { FIELD_MAX_TOKENS, "max_tokens", output_tokens },
        { FIELD_MAX_COMPLETION_TOKENS, "max_completion_tokens", output_tokens },
        { FIELD_MIN_TOKENS, "min_tokens", output_tokens },
        { FIELD_SEED, "seed", (int64_t)(seed & INT32_MAX) },
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (workload->fields & limits[i].field)
            length += (size_t)snprintf(out + length, WORKLOAD_LIMITS_SIZE - length, ",\"%s\":%ld",
                                       limits[i].name, limits[i].value);
    return length;
}

const char *workload_lead(const struct workload *workload)
{
    if (workload->api == BENCH_CHAT)
        return ",\"messages\":[{\"role\":\"user\",\"content\":\"a";
    return workload->form == PROMPT_IDS ? ",\"prompt\":[" : ",\"prompt\":\"a";
}

const char *workload_text_lead(const struct workload *workload)
{
    return workload->api == BENCH_CHAT ? ",\"messages\":[{\"role\":\"user\",\"content\":\""
                                       : ",\"prompt\":\"";
}

const char *workload_text_close(const struct workload *workload)
{
    return workload->api == BENCH_CHAT ? "\"}]}" : "\"}";
}

const char *workload_close(const struct workload *workload)
{
    if (workload->api == BENCH_CHAT)
        return "\"}]}";
    return workload->form == PROMPT_IDS ? "]}" : "\"}";
}

char workload_separator(const struct workload *workload)
{
    return workload->form == PROMPT_IDS ? ',' : ' ';
}

const char *workload_path(enum bench_api api)
{
    return api == BENCH_CHAT ? "/v1/chat/completions" : "/v1/completions";
}
