/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GenAI-Perf's profile_export_genai_perf.json. Its metrics have the same names as in aiperf's
 * files, but its settings have different names. Before about version 0.0.12, GenAI-Perf's settings
 * were named like its command-line options. */
#include <math.h>
#include <string.h>

#include "analysis/import/import_aiperf.h"
#include "analysis/import/import_formats.h"

#define NUMBER(name, member) MEMBER_NUMBER_AT(name, import_aiperf_profile, member, 1)

static const struct import_member mean_input[] = { NUMBER("mean", requested_input), { 0 } };
static const struct import_member mean_output[] = { NUMBER("mean", requested_output), { 0 } };
static const struct import_member input[] = {
    MEMBER_INSIDE("synthetic_tokens", 0, mean_input),
    MEMBER_INSIDE("output_tokens", 0, mean_output),
    { 0 },
};
static const struct import_member stimulus[] = {
    NUMBER("concurrency", requested_concurrency),
    NUMBER("request_rate", requested_rate),
    { 0 },
};
static const struct import_member extra[] = { NUMBER("max_tokens", requested_output), { 0 } };
static const struct import_member analyzer[] = {
    MEMBER_INSIDE("stimulus", 0, stimulus),
    { 0 },
};
static const struct import_member settings[] = {
    MEMBER_BY("model_names", import_aiperf_read_models),
    MEMBER_INSIDE("perf_analyzer", 0, analyzer),
    MEMBER_INSIDE("input", 0, input),
    /* before about version 0.0.12: named like command-line options */
    MEMBER_BY("model", import_aiperf_read_models),
    NUMBER("concurrency", requested_concurrency),
    NUMBER("request_rate", requested_rate),
    NUMBER("request_count", requested_count),
    NUMBER("synthetic_input_tokens_mean", requested_input),
    NUMBER("output_tokens_mean", requested_output),
    MEMBER_INSIDE("extra_inputs", 0, extra),
    { 0 },
};

/* Reads the settings, then the metrics. `original` receives unknown members, but no settings. */
static void read_both(const char *document, size_t size, struct import_aiperf_profile *profile,
                      json_t *original)
{
    static const struct import_member top[] = {
        MEMBER_INSIDE("input_config", 0, settings),
        { 0 },
    };
    struct json_scan scan;

    import_aiperf_set_unknown(profile);
    import_scan_init(&scan, document, size);
    import_object(&scan, top, profile, NULL);
    import_scan_init(&scan, document, size);
    import_object(&scan, import_aiperf_metrics, profile, original);
    json_object_del(original, "input_config");
    if (profile->requested_count == 0) /* 0: the option was not given */
        profile->requested_count = NAN;
}

static CHECKED bool read_profile(void *context, const char *document, size_t size, int64_t line,
                                 struct error *error)
{
    struct evidence *out = context;
    struct import_aiperf_profile profile;
    json_auto_t *original = json_object();

    read_both(document, size, &profile, original);
    if (!import_aiperf_add_cell(&profile, out, line, original, error))
        return false;
    if (out->cell_count == 1)
        text_copy(out->facts.model, sizeof out->facts.model, profile.model);
    return true;
}

/* aiperf's files can have the same metrics: the settings tell the two tools apart. */
bool import_sniff_genai_perf(const char *bytes, size_t length)
{
    static const char *const keys[] = { "request_latency", "input_config", NULL };
    static const char *const now[] = { "perf_analyzer", "subcommand", NULL };
    static const char *const before[] = { "service_kind", "profile_export_file", NULL };
    const char *settings_at;
    size_t size;

    return import_has_keys(bytes, length, keys)
           && import_find_member(bytes, length, "input_config", &settings_at, &size)
           && (import_has_keys(settings_at, size, now)
               || import_has_keys(settings_at, size, before));
}

bool import_read_genai_perf(const struct import_file *file, struct evidence *out,
                            struct error *error)
{
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "genai-perf");
    return import_documents(file->bytes, file->length, read_profile, out, error);
}
