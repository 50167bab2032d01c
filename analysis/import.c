#include "analysis/import_formats.h"

#include <string.h>

#include "base/digest.h"

const struct importer importers[] = {
    { "vllm", "vLLM `bench serve --save-result` JSON, one result or several", import_sniff_vllm,
      import_read_vllm },
    { "guidellm", "GuideLLM's benchmarks.json", import_sniff_guidellm, import_read_guidellm },
    { "aiperf", "aiperf's profile_export_aiperf.json", import_sniff_aiperf, import_read_aiperf },
    { "aiperf-records", "aiperf's profile_export.jsonl, a line per request",
      import_sniff_aiperf_records, import_read_aiperf_records },
    { "inference-perf", "inference-perf's summary_ or stage_N_lifecycle_metrics.json",
      import_sniff_inference_perf, import_read_inference_perf },
    { "serving-report", "serving report JSON, schema 1.0 or 1.1", import_sniff_serving_report,
      import_read_serving_report },
    { "summary", "sweep summary JSON: per model an object of cells", import_sniff_summary,
      import_read_summary },
    { "csv", "a table with a heading; units are taken from the columns' names", import_sniff_csv,
      import_read_csv },
    { 0 },
};

static void list_formats(struct text *out)
{
    for (const struct importer *importer = importers; importer->format != NULL; importer++)
        text_addf(out, "%s%s", importer == importers ? "" : ", ", importer->format);
}

static const struct importer *find(const char *bytes, size_t length, const char *format)
{
    for (const struct importer *importer = importers; importer->format != NULL; importer++)
        if (format == NULL ? importer->sniff(bytes, length) : strcmp(importer->format, format) == 0)
            return importer;
    return NULL;
}

static bool refuse(const char *format, struct error *error)
{
    TEXT_AUTO formats = { 0 };

    list_formats(&formats);
    if (format != NULL)
        return error_set(error, ERROR_INVALID, "there is no format \"%.40s\": there are %s", format,
                         text_string(&formats));
    return error_set(error, ERROR_INVALID,
                     "the file is none of the formats known here (%s): if it is one of them, name "
                     "it in `format` to be told what is wrong with it",
                     text_string(&formats));
}

bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                 struct error *error)
{
    const struct importer *importer = find(bytes, length, format);

    evidence_init(out);
    if (importer == NULL)
        return refuse(format, error);
    out->imported = true;
    text_copy(out->format, sizeof out->format, importer->format);
    digest_sha256_text(bytes, length, out->digest);
    if (!importer->read(bytes, length, out, error))
        return false;
    if (out->cell_count == 0)
        return error_set(error, ERROR_INVALID, "the %s file holds no cell at all",
                         importer->format);
    return true;
}
