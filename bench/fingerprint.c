#include "bench/fingerprint.h"

#include <string.h>

#include "base/json.h"

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *object_or_null(const char *written)
{
    struct error ignored;
    json_t *object;

    if (!json_parse(written, strlen(written), &object, &ignored))
        return json_null();
    return object;
}

static json_t *count_or_null(int64_t count)
{
    return count > 0 ? json_integer((json_int_t)count) : json_null();
}

char *fingerprint_write(const struct deployment *deployment, const struct model_facts *facts,
                        const struct workload *workload, const struct plan *plan)
{
    json_t *made = workload_specification(workload);
    json_auto_t *document = NULL;

    json_object_set_new(made, "seed", json_integer((json_int_t)plan->seed));
    document = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model", text_or_null(facts->model),
        "engine", text_or_null(facts->engine), "engine_version",
        text_or_null(facts->engine_version), "context_tokens", count_or_null(facts->context_tokens),
        "engine_details", object_or_null(facts->details), "provider",
        text_or_null(deployment->provider), "hardware", text_or_null(deployment->hardware),
        "region", text_or_null(deployment->region), "limits", object_or_null(deployment->limits),
        "workload", made);
    return json_write(document);
}
