/* SPDX-License-Identifier: Apache-2.0 */
/* Reads datasets from files in the formats of other tools. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/csv.h"
#include "base/json/json_scan.h"
#include "bench/workload/dataset.h"

#define NAME_SIZE 48

/* Names that files use for lengths, reduced to lower-case letters and digits. */
static const char *const input_names[] = {
    "inputtokens", "inputlength",   "inputlen",      "prompttokens", "promptlength",
    "promptlen",   "contexttokens", "requesttokens", "isl",          NULL
};
static const char *const output_names[] = { "outputtokens",
                                            "outputlength",
                                            "outputlen",
                                            "completiontokens",
                                            "generatedtokens",
                                            "responsetokens",
                                            "maxtokens",
                                            "osl",
                                            NULL };

/* One record of the file, as far as it has been read. */
struct record {
    struct text prompt; /* escaped as in JSON */
    int64_t input_tokens, output_tokens;
    size_t output_bytes;
};

static void record_begin(struct record *record)
{
    record->prompt.length = 0;
    record->input_tokens = record->output_tokens = -1;
    record->output_bytes = 0;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_named(const char *name, size_t length, const char *const *names)
{
    char plain[NAME_SIZE];
    size_t kept = 0;

    for (size_t i = 0; i < length && kept < sizeof plain - 1; i++)
        if (isalnum((unsigned char)name[i]))
            plain[kept++] = (char)tolower((unsigned char)name[i]);
    plain[kept] = '\0';
    for (; *names != NULL; names++)
        if (strcmp(plain, *names) == 0)
            return true;
    return false;
}

static bool is_length(int64_t tokens)
{
    return tokens >= 1 && tokens <= DATASET_TOKENS_MAX;
}

static void add_row(struct dataset *dataset, const struct dataset_row *row)
{
    if (dataset->count == dataset->capacity) {
        dataset->capacity = dataset->capacity > 0 ? 2 * dataset->capacity : 256;
        dataset->rows = memory_resize(dataset->rows, dataset->capacity, sizeof *dataset->rows);
    }
    dataset->rows[dataset->count++] = *row;
}

/* Adds the record to the dataset. A record is skipped, and counted as skipped, if its prompt is too
 * long, or if it has neither a prompt nor a valid input length. */
static CHECKED bool add_record(struct dataset *dataset, const struct record *record,
                               struct error *error)
{
    size_t length = record->prompt.length;
    bool has_prompt = length > 0 && length <= DATASET_PROMPT_MAX_BYTES;
    struct dataset_row row = {
        .input_tokens = is_length(record->input_tokens) ? (int32_t)record->input_tokens : -1,
        .output_tokens = is_length(record->output_tokens) ? (int32_t)record->output_tokens : -1,
        .output_bytes = record->output_bytes < DATASET_LIMIT_BYTES ? (uint32_t)record->output_bytes
                                                                   : DATASET_LIMIT_BYTES,
    };

    if (!has_prompt && (length > 0 || row.input_tokens < 0)) {
        dataset->skipped++;
        return true;
    }
    if (dataset->count == DATASET_ROWS_MAX)
        return error_set(error, ERROR_INVALID,
                         "the file has more than %d records: give only a part of it",
                         DATASET_ROWS_MAX);
    if (has_prompt) {
        row.offset = (uint32_t)dataset->texts.length;
        row.length = (uint32_t)length;
        row.input_tokens = -1; /* the server will count them */
        text_add_bytes(&dataset->texts, record->prompt.data, length);
    }
    add_row(dataset, &row);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Appends the last scanned string, still escaped, to the prompt. If the prompt is not empty, an
 * empty line separates the two. */
static void add_prompt(struct record *record, const struct json_scan *scan)
{
    if (scan->length == 0)
        return;
    text_add(&record->prompt, record->prompt.length > 0 ? "\\n\\n" : "");
    text_add_bytes(&record->prompt, scan->text, scan->length);
}

/* SPEAKER_USER: a turn that belongs to the prompt, including system and developer messages. */
enum speaker { SPEAKER_NONE, SPEAKER_USER, SPEAKER_MODEL };

static enum speaker speaker_of(const struct json_scan *scan)
{
    static const char *const users[] = { "human", "user", "system", "developer" };
    static const char *const models[] = { "gpt",     "assistant", "model", "bot",
                                          "chatgpt", "bard",      "bing" };

    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if (json_scan_is(scan, users[i]))
            return SPEAKER_USER;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (json_scan_is(scan, models[i]))
            return SPEAKER_MODEL;
    return SPEAKER_NONE;
}

struct turn {
    enum speaker speaker;
    struct json_scan text; /* positioned at the turn's text; text.text NULL: there is no text */
};

/* Called after the object's opening brace was read. */
static bool read_turn(struct json_scan *scan, struct turn *turn)
{
    enum json_scan_token token;

    *turn = (struct turn){ 0 };
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        bool is_speaker = json_scan_is(scan, "from") || json_scan_is(scan, "role");
        bool is_text = json_scan_is(scan, "value") || json_scan_is(scan, "content");

        if (!is_speaker && !is_text) {
            json_scan_value(scan, NULL, NULL);
            continue;
        }
        struct json_scan before = *scan;

        if (json_scan_next(scan) != JSON_SCAN_STRING) {
            *scan = before;
            json_scan_value(scan, NULL, NULL);
        } else if (is_speaker) {
            turn->speaker = speaker_of(scan);
        } else {
            turn->text = *scan;
        }
    }
    return token == JSON_SCAN_OBJECT_END;
}

/* The user's turns before the model's first turn are the prompt; the model's first turn is the
 * answer. */
static bool read_turns(struct json_scan *scan, struct record *record)
{
    enum json_scan_token token = json_scan_next(scan);
    bool answered = false;
    struct turn turn;

    if (token != JSON_SCAN_ARRAY)
        return token != JSON_SCAN_OBJECT && token != JSON_SCAN_FAILED;
    while ((token = json_scan_next(scan)) == JSON_SCAN_OBJECT) {
        if (!read_turn(scan, &turn))
            return false;
        if (answered || turn.text.text == NULL)
            continue;
        answered = turn.speaker == SPEAKER_MODEL;
        if (turn.speaker == SPEAKER_USER)
            add_prompt(record, &turn.text);
        if (answered)
            record->output_bytes = turn.text.length;
    }
    return token == JSON_SCAN_ARRAY_END;
}

/* Reads the value of a key that does not hold turns. Skips a value of an unexpected type. */
static bool read_member(struct json_scan *scan, struct record *record)
{
    bool is_prompt = json_scan_is(scan, "prompt") || json_scan_is(scan, "question")
                     || json_scan_is(scan, "instruction");
    bool is_answer = json_scan_is(scan, "completion") || json_scan_is(scan, "response")
                     || json_scan_is(scan, "output") || json_scan_is(scan, "answer");
    bool is_input = is_named(scan->text, scan->length, input_names);
    bool is_output = is_named(scan->text, scan->length, output_names);
    struct json_scan before = *scan;
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_STRING && is_prompt)
        add_prompt(record, scan);
    else if (token == JSON_SCAN_STRING && is_answer)
        record->output_bytes = scan->length;
    else if (token == JSON_SCAN_NUMBER && is_input)
        json_scan_integer(scan, &record->input_tokens);
    else if (token == JSON_SCAN_NUMBER && is_output)
        json_scan_integer(scan, &record->output_tokens);
    else {
        *scan = before;
        json_scan_value(scan, NULL, NULL);
    }
    return token != JSON_SCAN_FAILED;
}

/* Called after the object's opening brace was read. */
static bool read_record(struct json_scan *scan, struct record *record)
{
    enum json_scan_token token;

    record_begin(record);
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        bool is_turns = json_scan_is(scan, "conversations") || json_scan_is(scan, "conversation")
                        || json_scan_is(scan, "messages");

        if (!(is_turns ? read_turns(scan, record) : read_member(scan, record)))
            return false;
    }
    return token == JSON_SCAN_OBJECT_END;
}

/* Sets the error and returns false. `line` is counted from 1; it is 0 if the file is one
 * document. */
static CHECKED bool fail(const struct json_scan *scan, int64_t line, struct error *error)
{
    char where[32] = "";
    struct error why;

    if (line > 0)
        snprintf(where, sizeof where, " in line %ld", line);
    return json_scan_fail(scan, &why)
           || error_set(error, ERROR_INVALID, "the dataset cannot be read%s: %s", where,
                        why.message);
}

static CHECKED bool read_list(const char *bytes, size_t length, struct record *record,
                              struct dataset *dataset, struct error *error)
{
    struct json_scan scan;
    enum json_scan_token token;

    json_scan_init(&scan, bytes, length);
    json_scan_next(&scan); /* the opening bracket */
    while ((token = json_scan_next(&scan)) == JSON_SCAN_OBJECT) {
        if (!read_record(&scan, record))
            return fail(&scan, 0, error);
        if (!add_record(dataset, record, error))
            return false;
    }
    if (token != JSON_SCAN_ARRAY_END || json_scan_next(&scan) != JSON_SCAN_DONE)
        return fail(&scan, 0, error);
    return true;
}

static CHECKED bool read_line(const char *line, size_t length, int64_t number,
                              struct record *record, struct dataset *dataset, struct error *error)
{
    struct json_scan scan;

    json_scan_init(&scan, line, length);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT || !read_record(&scan, record)
        || json_scan_next(&scan) != JSON_SCAN_DONE)
        return fail(&scan, number, error);
    return add_record(dataset, record, error);
}

static bool is_blank(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)bytes[i]))
            return false;
    return true;
}

static CHECKED bool read_lines(const char *bytes, size_t length, struct record *record,
                               struct dataset *dataset, struct error *error)
{
    const char *end = bytes + length, *next;
    int64_t number = 1;

    for (const char *line = bytes; line < end; line = next + 1, number++) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL)
            next = end;
        if (!is_blank(line, (size_t)(next - line))
            && !read_line(line, (size_t)(next - line), number, record, dataset, error))
            return false;
    }
    return true;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static size_t find_column(const struct csv *csv, const char *const *names)
{
    for (size_t i = 0; i < csv->count; i++)
        if (is_named(csv->fields[i].text, csv->fields[i].length, names))
            return i;
    return SIZE_MAX;
}

static int64_t read_length(const struct csv *csv, size_t column)
{
    char text[NAME_SIZE], *end;
    double value;

    if (column >= csv->count)
        return -1;
    csv_copy(&csv->fields[column], text, sizeof text);
    value = strtod(text, &end);
    return end == text || *end != '\0' || !(value >= 1 && value <= DATASET_TOKENS_MAX)
               ? -1
               : (int64_t)value;
}

static CHECKED bool read_csv(const char *bytes, size_t length, struct record *record,
                             struct dataset *dataset, struct error *error)
{
    FREE_AUTO struct csv *csv = memory_zeroed(1, sizeof *csv);
    size_t input, output;
    bool more;

    csv_init(csv, bytes, length);
    if (!csv_next(csv, &more, error))
        return false;
    input = find_column(csv, input_names);
    output = find_column(csv, output_names);
    if (!more || input == SIZE_MAX)
        return error_set(error, ERROR_INVALID,
                         "this is not a dataset: give a JSON list or JSON lines of conversations, "
                         "messages, prompts or lengths, or a CSV table whose first line names the "
                         "columns input_tokens and output_tokens");
    while (csv_next(csv, &more, error) && more) {
        record_begin(record);
        record->input_tokens = read_length(csv, input);
        record->output_tokens = read_length(csv, output);
        if (!add_record(dataset, record, error))
            return false;
    }
    return !more;
}

/* ---- The exported function ------------------------------------------------------------------- */

static CHECKED bool read_any(const char *bytes, size_t length, struct record *record,
                             struct dataset *dataset, struct error *error)
{
    size_t start = 0;

    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        bytes += 3, length -= 3;
    while (start < length && isspace((unsigned char)bytes[start]))
        start++;
    if (start < length && bytes[start] == '[')
        return read_list(bytes, length, record, dataset, error);
    if (start < length && bytes[start] == '{')
        return read_lines(bytes, length, record, dataset, error);
    return read_csv(bytes, length, record, dataset, error);
}

/* Sets the kind. If there are prompts, removes the rows without one. */
static void skip_unusable(struct dataset *dataset)
{
    size_t kept = 0;

    dataset->kind = dataset->texts.length > 0 ? DATASET_PROMPTS : DATASET_LENGTHS;
    for (size_t i = 0; i < dataset->count; i++)
        if (dataset->kind == DATASET_LENGTHS || dataset->rows[i].length > 0)
            dataset->rows[kept++] = dataset->rows[i];
    dataset->skipped += dataset->count - kept;
    dataset->count = kept;
}

bool dataset_read(const char *bytes, size_t length, struct dataset *out, struct error *error)
{
    struct record record = { 0 };
    bool done;

    *out = (struct dataset){ 0 };
    if (length > DATASET_LIMIT_BYTES)
        return error_set(error, ERROR_INVALID, "the dataset has %zu bytes: at most %d are accepted",
                         length, DATASET_LIMIT_BYTES);
    done = read_any(bytes, length, &record, out, error);
    text_finish(&record.prompt);
    if (done)
        skip_unusable(out);
    if (done && out->count == 0)
        done = error_set(error, ERROR_INVALID,
                         "none of the dataset's %zu records has a usable prompt or input length",
                         out->skipped);
    if (!done)
        dataset_finish(out);
    return done;
}
