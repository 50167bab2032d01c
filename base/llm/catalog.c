/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/catalog.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define GIB (1024.0 * 1024 * 1024)

extern const char catalog_hardware_json[], catalog_models_json[];

struct catalog {
    json_t *hardware_json, *models_json; /* own the strings in the rows */
    struct hardware *hardware;
    struct model *models;
    size_t hardware_count, model_count;
};

static const char *const formats[] = {
    [FORMAT_BF16] = "bf16", [FORMAT_FP16] = "fp16", [FORMAT_FP8] = "fp8",
    [FORMAT_INT8] = "int8", [FORMAT_FP4] = "fp4",   [FORMAT_W4A16] = "w4a16",
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* A row that is being read. Only its first invalid member is reported. */
struct reading {
    const json_t *row;
    const char *name;
    bool failed;
    struct error *error;
};

static void fail(struct reading *reading, const char *member, const char *what)
{
    if (!reading->failed)
        error_set(reading->error, ERROR_INVALID, "catalog: %s: \"%s\" must be %s", reading->name,
                  member, what);
    reading->failed = true;
}

static const char *read_text(struct reading *reading, const char *member)
{
    const char *text = json_get_text(reading->row, member, "");

    if (text[0] == '\0')
        fail(reading, member, "a string that is not empty");
    return text;
}

static double read_positive(struct reading *reading, const char *member)
{
    double value = json_get_number(reading->row, member, NAN);

    if (!(value > 0))
        fail(reading, member, "a number above 0");
    return value;
}

/* Reads an object such as {"bf16": 121, ...}, and multiplies its numbers by `unit`. Formats that it
 * does not list become NAN. */
static void read_by_format(struct reading *reading, const char *member, double unit,
                           double out[FORMAT_COUNT])
{
    json_t *object = json_object_get(reading->row, member);
    size_t known = 0;

    for (int i = 0; i < FORMAT_COUNT; i++) {
        out[i] = json_get_number(object, formats[i], NAN) * unit;
        known += out[i] > 0;
    }
    if (known == 0 || known != json_object_size(object))
        fail(reading, member, "an object that maps number formats to numbers above 0");
}

static const char **read_aliases(struct reading *reading)
{
    const json_t *list = json_object_get(reading->row, "aliases");
    const char **aliases = memory_zeroed(json_array_size(list) + 1, sizeof *aliases);

    for (size_t i = 0; i < json_array_size(list); i++) {
        aliases[i] = json_string_value(json_array_get(list, i));
        if (aliases[i] == NULL || aliases[i][0] == '\0') {
            fail(reading, "aliases", "a list of strings that are not empty");
            break;
        }
    }
    if (json_array_size(list) == 0)
        fail(reading, "aliases", "a list of at least one string");
    return aliases;
}

static void read_source(struct reading *reading, const char **source, const char **as_of)
{
    *source = read_text(reading, "source");
    *as_of = read_text(reading, "as_of");
    if (strlen(*as_of) != strlen("2026-11-21"))
        fail(reading, "as_of", "a date (YYYY-MM-DD)");
}

static void read_hardware(struct reading *reading, struct hardware *out)
{
    out->name = reading->name;
    out->title = read_text(reading, "title");
    out->aliases = read_aliases(reading);
    out->memory_bytes = read_positive(reading, "memory_gb") * 1e9;
    out->visible_bytes = json_get_number(reading->row, "visible_gib", NAN) * GIB;
    out->bandwidth_bytes_per_s = read_positive(reading, "bandwidth_gb_s") * 1e9;
    read_by_format(reading, "peak_tflops", 1e12, out->peak_flops);
    read_source(reading, &out->source, &out->as_of);
}

static void read_model(struct reading *reading, struct model *out)
{
    out->name = reading->name;
    out->aliases = read_aliases(reading);
    out->parameters = read_positive(reading, "parameters");
    out->active_parameters = read_positive(reading, "active_parameters");
    out->layers = read_positive(reading, "layers");
    out->kv_layers = read_positive(reading, "kv_layers");
    out->kv_heads = read_positive(reading, "kv_heads");
    out->head_size = read_positive(reading, "head_size");
    out->full_layers = json_get_number(reading->row, "full_layers", NAN);
    out->full_kv_heads = json_get_number(reading->row, "full_kv_heads", NAN);
    out->full_head_size = json_get_number(reading->row, "full_head_size", NAN);
    out->window_tokens = json_get_number(reading->row, "window_tokens", NAN);
    out->context_tokens = read_positive(reading, "context_tokens");
    read_by_format(reading, "weight_gb", 1e9, out->weight_bytes);
    read_source(reading, &out->source, &out->as_of);
}

static CHECKED bool parse(const char *what, const char *text, json_t **out, struct error *error)
{
    if (!json_parse(text, strlen(text), out, error))
        return error_set(error, ERROR_INVALID, "catalog: %s: %s", what, error->message);
    if (!json_is_array(*out))
        return error_set(error, ERROR_INVALID, "catalog: %s must be a list", what);
    return true;
}

static CHECKED bool begin_row(struct reading *reading, const json_t *row, struct error *error)
{
    *reading = (struct reading){ .row = row, .name = "a row", .error = error };
    reading->name = read_text(reading, "name");
    return !reading->failed;
}

static CHECKED bool read_rows(struct catalog *catalog, struct error *error)
{
    struct reading reading;

    for (size_t i = 0; i < catalog->hardware_count; i++) {
        if (begin_row(&reading, json_array_get(catalog->hardware_json, i), error))
            read_hardware(&reading, &catalog->hardware[i]);
        if (reading.failed)
            return false;
    }
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (begin_row(&reading, json_array_get(catalog->models_json, i), error))
            read_model(&reading, &catalog->models[i]);
        if (reading.failed)
            return false;
    }
    return true;
}

bool catalog_parse(const char *hardware_json, const char *models_json, struct catalog **out,
                   struct error *error)
{
    struct catalog *catalog = memory_zeroed(1, sizeof *catalog);

    if (parse("hardware", hardware_json, &catalog->hardware_json, error)
        && parse("models", models_json, &catalog->models_json, error)) {
        catalog->hardware_count = json_array_size(catalog->hardware_json);
        catalog->model_count = json_array_size(catalog->models_json);
        catalog->hardware = memory_zeroed(catalog->hardware_count + 1, sizeof *catalog->hardware);
        catalog->models = memory_zeroed(catalog->model_count + 1, sizeof *catalog->models);
        if (read_rows(catalog, error)) {
            *out = catalog;
            return true;
        }
    }
    catalog_destroy(catalog);
    return false;
}

bool catalog_create(struct catalog **out, struct error *error)
{
    if (catalog_parse(catalog_hardware_json, catalog_models_json, out, error))
        return true;
    error->kind = ERROR_INTERNAL; /* the files are part of the program */
    return false;
}

void catalog_destroy(struct catalog *catalog)
{
    if (catalog == NULL)
        return;
    for (size_t i = 0; i < catalog->hardware_count && catalog->hardware != NULL; i++)
        free(catalog->hardware[i].aliases);
    for (size_t i = 0; i < catalog->model_count && catalog->models != NULL; i++)
        free(catalog->models[i].aliases);
    free(catalog->hardware);
    free(catalog->models);
    json_decref(catalog->hardware_json);
    json_decref(catalog->models_json);
    free(catalog);
}

const struct hardware *catalog_hardware(const struct catalog *catalog, size_t *count)
{
    *count = catalog->hardware_count;
    return catalog->hardware;
}

const struct model *catalog_models(const struct catalog *catalog, size_t *count)
{
    *count = catalog->model_count;
    return catalog->models;
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool ends_word(char c)
{
    return !isalnum((unsigned char)c);
}

/* The length of the name if it occurs in `text` as a separate word, else 0. */
static size_t match(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strcasestr(at, name)) != NULL; at++)
        if ((at == text || ends_word(at[-1])) && ends_word(at[length]))
            return length;
    return 0;
}

static size_t match_any(const char *text, const char *name, const char *title,
                        const char *const *aliases)
{
    size_t best = match(text, name), found = title == NULL ? 0 : match(text, title);

    best = found > best ? found : best;
    for (; *aliases != NULL; aliases++) {
        found = match(text, *aliases);
        best = found > best ? found : best;
    }
    return best;
}

const struct hardware *catalog_find_hardware(const struct catalog *catalog, const char *text)
{
    const struct hardware *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < catalog->hardware_count; i++) {
        const struct hardware *row = &catalog->hardware[i];
        size_t length = match_any(text, row->name, row->title, row->aliases);

        if (length >= best && length > 0)
            found = length == best ? NULL : row;
        best = length > best ? length : best;
    }
    return found;
}

const struct model *catalog_find_model(const struct catalog *catalog, const char *text)
{
    const struct model *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < catalog->model_count; i++) {
        const struct model *row = &catalog->models[i];
        size_t length = match_any(text, row->name, NULL, row->aliases);

        if (length >= best && length > 0)
            found = length == best ? NULL : row;
        best = length > best ? length : best;
    }
    return found;
}
