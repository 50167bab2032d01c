/* dataset_read on any bytes: what it keeps lies within its texts, can stand in a JSON string, and
 * comes back from its kept form. */
#include <string.h>

#include "base/json.h"
#include "bench/dataset.h"
#include "tests/fuzz/fuzz.h"

static void check_row(const struct dataset *dataset, const struct dataset_row *row)
{
    TEXT_AUTO quoted = { 0 };
    json_t *json = NULL;
    struct error error;

    must((uint64_t)row->offset + row->length <= dataset->texts.length);
    must(row->input_tokens == -1 || row->input_tokens >= 1);
    must(row->length > 0 || row->input_tokens >= 1);
    text_add(&quoted, "[\"");
    text_add_bytes(&quoted, text_string(&dataset->texts) + row->offset, row->length);
    text_add(&quoted, "\"]");
    must(json_parse(quoted.data, quoted.length, &json, &error));
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    DATASET_AUTO dataset = { 0 }, again = { 0 };
    struct dataset_range input, output;
    struct error error;
    void *packed;
    size_t length;

    if (!dataset_read((const char *)data, size, &dataset, &error))
        return 0;
    must(dataset.count > 0);
    for (size_t i = 0; i < dataset.count; i++)
        check_row(&dataset, &dataset.rows[i]);
    dataset_lengths(&dataset, &input, &output);
    must(input.count == dataset.count);
    must(dataset_repeated(&dataset) < dataset.count);
    must(dataset_pack(&dataset, &packed, &length, &error));
    must(dataset_unpack(packed, length, &again, &error));
    must(again.count == dataset.count && again.texts.length == dataset.texts.length);
    free(packed);
    return 0;
}
