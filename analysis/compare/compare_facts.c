/* SPDX-License-Identifier: Apache-2.0 */
/* Determines, fact by fact, whether runs measured the same thing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare.h"
#include "base/core/memory.h"
#include "base/json/json.h"

static void add_canonical(const json_t *object, struct text *out)
{
    FREE_AUTO char *written = NULL;

    if (json_object_size(object) == 0)
        return;
    written = json_write_canonical(object);
    text_add(out, written);
}

/* Writes the engine's arguments: for an import, those that it states; for our own runs, those that
 * the server reports, and the settings that its platform reports. */
static void write_flags(const struct evidence *run, struct text *out)
{
    text_add(out, run->facts.flags);
    if (out->length == 0)
        add_canonical(json_object_get(run->fingerprint, "engine_details"), out);
    add_canonical(json_object_get(run->fingerprint, "platform"), out);
}

/* Writes the limits in the same form for imports as for our own runs. */
static void write_limits(const struct evidence *run, struct text *out)
{
    json_auto_t *limits = json_object();

    if (run->fingerprint != NULL) {
        add_canonical(json_object_get(run->fingerprint, "limits"), out);
        return;
    }
    if (!isnan(run->facts.max_instances))
        json_object_set_new(limits, "max_instances",
                            json_integer((json_int_t)run->facts.max_instances));
    if (!isnan(run->facts.container_concurrency))
        json_object_set_new(limits, "container_concurrency",
                            json_integer((json_int_t)run->facts.container_concurrency));
    add_canonical(limits, out);
}

/* Writes our own run's workload; for an import, the stated workload, else the dataset's name. */
static void write_workload(const struct evidence *run, struct text *out)
{
    add_canonical(json_object_get(run->fingerprint, "workload"), out);
    if (out->length == 0)
        text_add(out, run->facts.workload);
    if (out->length == 0)
        text_add(out, run->facts.dataset);
}

/* Writes the dataset's name if the run states its workload. Otherwise, write_workload() writes the
 * name in place of the workload. */
static void write_dataset(const struct evidence *run, struct text *out)
{
    if (run->facts.workload[0] != '\0')
        text_add(out, run->facts.dataset);
}

/* Writes the form of the requests, which can differ between servers for the same workload. */
static void write_request_form(const struct evidence *run, struct text *out)
{
    add_canonical(json_object_get(run->fingerprint, "request_form"), out);
}

static void write_input_unit(const struct evidence *run, struct text *out)
{
    if (run->input_unit != LENGTH_UNKNOWN)
        text_add(out, length_unit_name(run->input_unit));
}

/* The fact is known if every cell states the requested output length. The length itself is not
 * written, because cells with different lengths count as different cells. */
static void write_output_length(const struct evidence *run, struct text *out)
{
    for (size_t i = 0; i < run->cell_count; i++)
        if (isnan(run->cells[i].output_tokens_asked))
            return;
    text_add(out, "stated per cell");
}

static const struct fact {
    const char *name;
    /* `needed`: if both values are unknown, they count as different, except for a fact of the
     * deployment if both runs measured the same revision of it. For facts that are not `needed`,
     * because few tools report them, two unknown values count as equal. */
    bool needed;
    bool of_work;          /* a fact of the workload, not of the deployment */
    bool is_only_reported; /* a difference is reported, but does not rule the comparison out */
    size_t offset;         /* of the value in struct evidence_facts, unless `write` is set */
    size_t size;           /* the size of the text at `offset` in bytes; 0: a double */
    /* Writes the fact's value, "" if it is unknown. NULL: the value is at `offset`. */
    void (*write)(const struct evidence *run, struct text *out);
} facts[] = {
#define NUMBER(member) #member, .offset = offsetof(struct evidence_facts, member)
#define TEXT(member) NUMBER(member), .size = sizeof((struct evidence_facts *)0)->member
    { TEXT(model), .needed = true },
    { TEXT(model_revision), .needed = true },
    { TEXT(quantization) },
    { TEXT(weights_type) },
    { TEXT(cache_type) },
    { TEXT(engine), .needed = true },
    { TEXT(engine_version), .needed = true },
    { "flags", .needed = true, .write = write_flags },
    { TEXT(hardware), .needed = true },
    { NUMBER(chips), .needed = true },
    { NUMBER(memory_gb_per_chip) },
    { NUMBER(tensor_parallel) },
    { TEXT(provider) },
    { TEXT(region), .needed = true },
    { "limits", .needed = true, .write = write_limits },
    { NUMBER(context_limit_tokens) },
    { "request_form", .write = write_request_form },
    { "workload", .needed = true, .of_work = true, .write = write_workload },
    { "input_unit", .needed = true, .of_work = true, .write = write_input_unit },
    { "output_length", .needed = true, .of_work = true, .write = write_output_length },
    { TEXT(tool), .of_work = true },
    { "dataset", .of_work = true, .is_only_reported = true, .write = write_dataset },
    { NUMBER(timeout_s), .of_work = true, .is_only_reported = true },
#undef NUMBER
#undef TEXT
};
#define FACTS (sizeof facts / sizeof facts[0])

static void write_fact(const struct fact *fact, const struct evidence *run, struct text *out)
{
    const char *at = (const char *)&run->facts + fact->offset;

    if (fact->write != NULL)
        fact->write(run, out);
    else if (fact->size > 0)
        text_add(out, at);
    else if (isfinite(*(const double *)(const void *)at))
        text_addf(out, "%.15g", *(const double *)(const void *)at);
}

bool compare_is_named(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool compare_knows_fact(const char *name, bool accepted)
{
    for (size_t i = 0; i < FACTS; i++)
        if (strcmp(facts[i].name, name) == 0)
            return true;
    return accepted && strcmp(name, "success_rate") == 0;
}

void compare_write_facts(struct text *out)
{
    for (size_t i = 0; i < FACTS; i++)
        text_addf(out, "%s%s", i == 0 ? "" : ", ", facts[i].name);
}

/* Whether both runs measured the same revision of one deployment. If so, a fact of the deployment
 * counts as equal if neither run knows it. */
static bool same_deployment(const struct evidence *a, const struct evidence *b)
{
    return a->deployment_id > 0 && a->deployment_id == b->deployment_id
           && a->revision == b->revision;
}

/* Whether both runs measured one deployment in one sweep: then no fact can differ between them. */
static bool same_sweep_and_deployment(const struct evidence *a, const struct evidence *b)
{
    return !a->imported && !b->imported && a->name[0] != '\0' && strcmp(a->name, b->name) == 0
           && strcmp(a->facts.deployment, b->facts.deployment) == 0;
}

static bool same(const struct fact *fact, const struct evidence *runs[2], const struct text *a,
                 const struct text *b)
{
    if (a->length == 0 && b->length == 0)
        return !fact->needed || (!fact->of_work && same_deployment(runs[0], runs[1]));
    return strcmp(text_string(a), text_string(b)) == 0;
}

static bool is_allowed(const struct compare_input *input, const struct fact *fact,
                       const struct difference *difference)
{
    if (fact->is_only_reported)
        return true;
    if (input->as_deployments && !fact->of_work && !difference->within_a_side)
        return true;
    if (!difference->within_a_side && compare_is_named(input->factors, difference->fact))
        return true;
    return difference->known_count < 2 && compare_is_named(input->accepted, difference->fact);
}

/* Whether `a` is the better example of how a fact differs: differences that are not allowed come
 * first, then those with more known values. */
static bool is_better_example(const struct difference *a, const struct difference *b)
{
    return a->allowed != b->allowed ? !a->allowed : a->known_count > b->known_count;
}

static void compare_fact(const struct compare_input *input, const struct fact *fact,
                         struct comparison *out)
{
    size_t count = input->counts[SIDE_BASELINE] + input->counts[SIDE_CANDIDATE];
    struct text values[COMPARE_RUNS_MAX] = { 0 };
    struct difference example = { .allowed = true };
    size_t pair[2] = { 0, 0 };

    for (size_t i = 0; i < count; i++)
        write_fact(fact, &input->runs[i], &values[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            struct difference here = {
                .fact = fact->name,
                .runs = { input->runs[i].id, input->runs[j].id },
                .within_a_side =
                    j < input->counts[SIDE_BASELINE] || i >= input->counts[SIDE_BASELINE],
                .known_count = (values[i].length > 0) + (values[j].length > 0),
            };
            const struct evidence *runs[2] = { &input->runs[i], &input->runs[j] };

            if (same_sweep_and_deployment(runs[0], runs[1])
                || same(fact, runs, &values[i], &values[j]))
                continue;
            here.allowed = is_allowed(input, fact, &here);
            if (example.fact == NULL || is_better_example(&here, &example)) {
                example = here;
                pair[0] = i;
                pair[1] = j;
            }
        }
    if (example.fact != NULL) {
        for (int i = 0; i < 2; i++)
            text_add(&example.values[i], text_string(&values[pair[i]]));
        out->differences =
            memory_resize(out->differences, out->difference_count + 1, sizeof *out->differences);
        out->differences[out->difference_count++] = example;
        out->refused += !example.allowed;
    }
    for (size_t i = 0; i < count; i++)
        text_finish(&values[i]);
}

void compare_facts(const struct compare_input *input, struct comparison *out)
{
    for (size_t i = 0; i < FACTS; i++)
        compare_fact(input, &facts[i], out);
}
