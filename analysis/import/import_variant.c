/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_variant.h"

#include <math.h>
#include <string.h>

#include "analysis/import/import_columns.h"
#include "base/core/text.h"

#define KEYS_MAX 32 /* members compared between the cells; further ones are ignored */

static const struct name {
    const char *word; /* normalized name of a column or member */
    /* The member's value may be no more than a name for the row: the member distinguishes runs only
     * if one of its values occurs at several loads or lengths. */
    bool is_label;
} names[] = {
    { "model", false },
    { "model_id", false },
    { "model_name", false },
    { "engine", false },
    { "engine_version", false },
    { "backend", false },
    { "framework", false },
    { "hardware", false },
    { "accelerator", false },
    { "gpu", false },
    { "gpu_type", false },
    { "gpu_name", false },
    { "device", false },
    { "region", false },
    { "zone", false },
    { "provider", false },
    { "cloud", false },
    { "machine", false },
    { "machine_type", false },
    { "instance_type", false },
    { "host", false },
    { "server", false },
    { "url", false },
    { "base_url", false },
    { "endpoint", false },
    { "deployment", false },
    { "quantization", false },
    { "quant", false },
    { "dtype", false },
    { "precision", false },
    { "kv_cache_dtype", false },
    { "dataset", false },
    { "dataset_name", false },
    { "repetition", false },
    { "repeat", false },
    { "rep", false },
    { "trial", false },
    { "iteration", false },
    { "iter", false },
    { "round", false },
    { "run_number", false },
    { "run_index", false },
    { "seed", false },
    { "tensor_parallel", false },
    { "tensor_parallel_size", false },
    { "tp", false },
    { "tp_size", false },
    { "pp", false },
    { "dp", false },
    { "chips", false },
    { "num_chips", false },
    { "gpus", false },
    { "num_gpus", false },
    { "gpu_count", false },
    { "replicas", false },
    { "instances", false },
    { "max_num_seqs", false },
    { "max_num_batched_tokens", false },
    { "max_model_len", false },
    { "gpu_memory_utilization", false },
    { "batch_size", false },
    { "block_size", false },
    { "spec_decode", false },
    { "speculative", false },
    { "speculative_decoding", false },
    { "num_speculative_tokens", false },
    { "mtp", false },
    { "spec_decoding", false },
    { "spec_method", false },
    { "disagg", false },
    { "prefill_tp", false },
    { "decode_tp", false },
    { "ep", false },
    { "dp_attention", false },
    { "prefix_caching", false },
    { "enable_prefix_caching", false },
    { "temperature", false },
    { "burstiness", false },
    { "run", true },
    { "run_id", true },
    { "run_name", true },
    { "run_label", true },
    { "label", true },
    { "name", true },
    { "config", true },
    { "config_name", true },
    { "configuration", true },
    { "variation", true },
    { "scenario", true },
    { "profile", true },
    { "mode", true },
    { "experiment", true },
    { "experiment_id", true },
    { "test", true },
    { "test_name", true },
};

static const struct name *find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].word, name) == 0)
            return &names[i];
    return NULL;
}

bool import_is_variant(const char *name)
{
    return find(name) != NULL;
}

/* The members of the cells' original rows that may distinguish runs. */
struct keys {
    struct key {
        const char *key; /* borrowed from an original row */
        const struct name *name;
    } at[KEYS_MAX];
    size_t count;
};

static const struct name *find_normalized(const char *key)
{
    char normalized[HEADING_SIZE];

    import_column_normalize(key, normalized);
    return find(normalized);
}

static void note_key(struct keys *keys, json_t *seen, const char *key)
{
    const struct name *name = find_normalized(key);

    if (json_object_get(seen, key) != NULL)
        return;
    json_object_set_new(seen, key, json_true());
    if (name != NULL && keys->count < KEYS_MAX)
        keys->at[keys->count++] = (struct key){ key, name };
}

static void find_keys(const struct evidence *evidence, struct keys *keys)
{
    json_auto_t *seen = json_object();

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const char *key;
        json_t *value;

        json_object_foreach(evidence->cells[i].original, key, value)
            note_key(keys, seen, key);
    }
}

static const char *value_of(const struct evidence_cell *cell, const struct key *key)
{
    const char *value = json_string_value(json_object_get(cell->original, key->key));

    return value == NULL ? "" : value;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

static bool same_load(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return same(a->concurrency, b->concurrency) && same(a->input_length, b->input_length)
           && same(a->output_tokens_asked, b->output_tokens_asked)
           && same(a->request_rate_asked, b->request_rate_asked);
}

static bool distinguishes_runs(const struct evidence *evidence, const struct key *key)
{
    json_auto_t *first_of = json_object();
    bool spans_loads = false;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const char *value = value_of(&evidence->cells[i], key);
        const json_t *first = json_object_get(first_of, value);

        if (first == NULL)
            json_object_set_new(first_of, value, json_integer((json_int_t)i));
        else if (!same_load(&evidence->cells[i], &evidence->cells[json_integer_value(first)]))
            spans_loads = true;
    }
    return json_object_size(first_of) > 1 && (spans_loads || !key->name->is_label);
}

static void add_value(struct evidence_cell *cell, const struct key *key)
{
    TEXT_AUTO variant = { 0 };

    if (value_of(cell, key)[0] == '\0')
        return;
    text_addf(&variant, "%s%s%s=%s", cell->variant, cell->variant[0] != '\0' ? ", " : "", key->key,
              value_of(cell, key));
    text_copy(cell->variant, sizeof cell->variant, text_string(&variant));
}

/* Adds the members that distinguish runs to the cells' variants. */
static void add_variants(struct evidence *evidence, const struct keys *keys)
{
    for (size_t k = 0; k < keys->count; k++) {
        if (!distinguishes_runs(evidence, &keys->at[k]))
            continue;
        for (size_t i = 0; i < evidence->cell_count; i++)
            add_value(&evidence->cells[i], &keys->at[k]);
    }
}

void import_mark_variants(struct evidence *evidence)
{
    struct keys keys = { 0 };

    find_keys(evidence, &keys);
    add_variants(evidence, &keys);
}

static bool is_one_of(const char *const *list, const char *name)
{
    while (*list != NULL && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

void import_mark_differing(struct evidence *evidence, const char *const *results)
{
    static const struct name setting = { "", false };
    json_auto_t *seen = json_object();
    struct keys keys = { 0 };
    const char *key;
    json_t *value;

    for (size_t i = 0; i < evidence->cell_count; i++)
        json_object_update_missing(seen, evidence->cells[i].original);
    json_object_foreach(seen, key, value) {
        if (find_normalized(key) == NULL && !is_one_of(results, key) && keys.count < KEYS_MAX)
            keys.at[keys.count++] = (struct key){ key, &setting };
    }
    add_variants(evidence, &keys);
}
