#include "analysis/import_formats.h"

#include <string.h>

#include "analysis/import_members.h"
#include "analysis/import_variant.h"
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

static bool begins(const char *bytes, size_t length, const char *with, size_t size)
{
    return length >= size && memcmp(bytes, with, size) == 0;
}

/* What every format would only call wrong; NULL: nothing of that kind. */
static const char *foreign(const char *bytes, size_t length)
{
    if (begins(bytes, length, "\xff\xfe", 2) || begins(bytes, length, "\xfe\xff", 2)
        || (length >= 4 && bytes[0] != 0 && bytes[1] == 0 && bytes[2] != 0 && bytes[3] == 0))
        return "the file is UTF-16: save it as UTF-8";
    if (begins(bytes, length, "\x1f\x8b", 2) || begins(bytes, length, "\x28\xb5\x2f\xfd", 4)
        || begins(bytes, length, "PK\x03\x04", 4))
        return "the file is compressed, or a spreadsheet: unpack it, or save the sheet as CSV";
    return NULL;
}

/* Of JSON that is broken its place is told. */
static bool refuse(const char *bytes, size_t length, const char *format, struct error *error)
{
    TEXT_AUTO formats = { 0 };
    struct json_scan scan;

    import_scan_init(&scan, bytes, length);
    if (format == NULL && length > 0 && (bytes[0] == '{' || bytes[0] == '[')
        && !json_scan_value(&scan, NULL, NULL))
        return json_scan_fail(&scan, error);
    list_formats(&formats);
    if (format != NULL)
        return error_set(error, ERROR_INVALID, "there is no format \"%.40s\": there are %s", format,
                         text_string(&formats));
    return error_set(error, ERROR_INVALID,
                     "the file is none of the formats known here (%s): if it is one of them, name "
                     "it in `format` to be told what is wrong with it",
                     text_string(&formats));
}

/* The mark that Windows' programs put before UTF-8. */
static size_t mark_length(const char *bytes, size_t length)
{
    return begins(bytes, length, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static bool read_marked(const char *bytes, size_t length, const char *format, struct evidence *out,
                        struct error *error)
{
    size_t mark = mark_length(bytes, length);
    const char *problem = foreign(bytes, length);
    const struct importer *importer;

    if (length == mark)
        return error_set(error, ERROR_INVALID, "the file is empty");
    if (problem != NULL)
        return error_set(error, ERROR_INVALID, "%s", problem);
    importer = find(bytes + mark, length - mark, format);
    if (importer == NULL)
        return refuse(bytes + mark, length - mark, format, error);
    text_copy(out->format, sizeof out->format, importer->format);
    return importer->read(bytes + mark, length - mark, out, error);
}

/* A document of another kind in a named format has cells of which nothing is known. Of a table the
 * columns are known, and what is wrong with their values is told. */
static bool tells_nothing(const struct evidence *evidence)
{
    if (strcmp(evidence->format, "csv") == 0)
        return false;
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];

        if (cell->state != EVIDENCE_UNKNOWN || cell->status[0] != '\0' || cell->attempted > 0)
            return false;
    }
    return true;
}

bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                 struct error *error)
{
    evidence_init(out);
    out->imported = true;
    digest_sha256_text(bytes, length, out->digest);
    if (!read_marked(bytes, length, format, out, error))
        return false;
    if (out->cell_count == 0)
        return error_set(error, ERROR_INVALID, "the %s file holds no cell at all", out->format);
    if (tells_nothing(out))
        return error_set(error, ERROR_INVALID,
                         "the %s file tells no requests, no rate and no latency: is it of that "
                         "format? Leave `format` out to have it found",
                         out->format);
    import_mark_variants(out);
    return true;
}
