/* SPDX-License-Identifier: Apache-2.0 */
/* Reads agg_*.json from InferenceX (formerly InferenceMAX), one or a list of several, and rows from
 * its dashboard. Latencies are defined as in vLLM but are in seconds; rates are per accelerator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"
#include "base/json/json.h"

#define SECONDS(metric, name)                                                                      \
    { "mean_" metric, "mean_" name "_s" }, { "median_" metric, "median_" name "_s" },              \
        { "p90_" metric, "p90_" name "_s" }, { "p95_" metric, "p95_" name "_s" },                  \
        { "p99_" metric, "p99_" name "_s" },                                                       \
    {                                                                                              \
        "std_" metric, "std_" name "_s"                                                            \
    }
/* Tokens per second for one user. They are ignored: the file also has the TPOT, which is their
 * inverse. */
#define INVERSE(metric)                                                                            \
    { "mean_" metric, "" }, { "median_" metric, "" }, { "p90_" metric, "" },                       \
        { "p95_" metric, "" }, { "p99_" metric, "" }, { "p99.9_" metric, "" },                     \
    {                                                                                              \
        "std_" metric, ""                                                                          \
    }

static const struct import_alias aliases[] = {
    { "hw", "hardware" },
    { "framework", "engine" },
    { "precision", "quantization" },
    { "image", "engine_version" },
    { "conc", "concurrency" },
    { "tp", "tensor_parallel_size" },
    { "num_gpus", "chips" },
    { "duration_seconds", "duration_s" },
    SECONDS("ttft", "ttft"),
    SECONDS("tpot", "tpot"),
    SECONDS("itl", "icl"), /* vLLM's ITL is the gap between chunks */
    SECONDS("e2el", "e2e"),
    INVERSE("intvty"),
    { "tput_per_gpu", "" },
    { "output_tput_per_gpu", "" },
    { "input_tput_per_gpu", "" },
    /* These describe the configuration and are kept only as text; divisors_of() reads some of
     * them. */
    { "infmax_model_prefix", "" },
    { "recipe_fingerprint", "" },
    { "run_url", "" },
    { "is_multinode", "" },
    { "num_prefill_gpu", "" },
    { "num_decode_gpu", "" },
    { "prefill_num_workers", "" },
    { "decode_num_workers", "" },
    { NULL, NULL },
};

static const char *text_of(const struct evidence_cell *cell, const char *name)
{
    const char *text = json_get_text(cell->original, name, NULL);
    char path[64];

    if (text != NULL)
        return text;
    snprintf(path, sizeof path, "metrics.%s", name); /* the name in the dashboard's rows */
    return json_get_text(cell->original, path, "");
}

static double number_of(const struct evidence_cell *cell, const char *name)
{
    const char *text = text_of(cell, name);
    char *end;
    double value = strtod(text, &end);

    return end > text && *end == '\0' && isfinite(value) && value >= 0 ? value : NAN;
}

/* The numbers of accelerators by which the file's rates were divided: all accelerators, those that
 * prefill, and those that decode. */
struct divisors {
    double all, prefill, decode;
};

static double factor(const struct evidence_cell *cell, const char *name)
{
    double value = number_of(cell, name);

    return isnan(value) ? 1 : value;
}

static struct divisors divisors_of(const struct evidence_cell *cell)
{
    struct divisors divisors = { .prefill = number_of(cell, "num_prefill_gpu"),
                                 .decode = number_of(cell, "num_decode_gpu") };
    double tensor = number_of(cell, "tp");

    if (strcmp(text_of(cell, "is_multinode"), "true") == 0) {
        divisors.all = divisors.prefill + divisors.decode;
        if (divisors.decode == 0) /* every accelerator does both */
            divisors.decode = divisors.all;
        return divisors;
    }
    divisors.all = number_of(cell, "num_gpus");
    if (isnan(divisors.all) && !isnan(tensor))
        divisors.all = tensor * factor(cell, "pp") * factor(cell, "pcp_size");
    /* On a single node, the dashboard counts each accelerator both in num_prefill_gpu and in
     * num_decode_gpu. */
    if (isnan(divisors.all))
        divisors.all = divisors.decode;
    divisors.prefill = divisors.decode = divisors.all;
    return divisors;
}

static void multiply_rates(struct evidence_cell *cell)
{
    struct divisors divisors = divisors_of(cell);

    cell->total_throughput = number_of(cell, "tput_per_gpu") * divisors.all;
    cell->output_throughput = number_of(cell, "output_tput_per_gpu") * divisors.decode;
    cell->input_throughput = number_of(cell, "input_tput_per_gpu") * divisors.prefill;
    if (isnan(cell->output_throughput))
        cell->output_throughput = number_of(cell, "output_tput_tps");
    import_complete_cell(cell);
}

/* The number of accelerators, if it is the same for all cells; else NaN. */
static double chips_of(const struct evidence *evidence)
{
    double chips = divisors_of(&evidence->cells[0]).all;

    for (size_t i = 1; i < evidence->cell_count; i++)
        if (divisors_of(&evidence->cells[i]).all != chips)
            return NAN;
    return chips;
}

bool import_sniff_inferencex(const char *bytes, size_t length)
{
    static const char *const result[] = { "conc", "isl", "osl", "tput_per_gpu", NULL };
    static const char *const dashboard[] = { "conc", "isl", "osl", "precision", "metrics", NULL };

    return import_has_keys(bytes, length, result) || import_has_keys(bytes, length, dashboard);
}

bool import_read_inferencex(const struct import_file *file, struct evidence *out,
                            struct error *error)
{
    text_copy(out->facts.tool, sizeof out->facts.tool, "InferenceX");
    if (!import_table_read_rows(file, aliases, "name", out, error))
        return false;
    for (size_t i = 0; i < out->cell_count; i++)
        multiply_rates(&out->cells[i]);
    if (out->cell_count > 0)
        out->facts.chips = chips_of(out);
    evidence_remark(out, "rates per accelerator were multiplied by the number of accelerators");
    return true;
}
