/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/job_verdict.h"

#include <string.h>

#include "analysis/report/report.h"
#include "handlers/answers/sweep_material.h"

static void add_list(const char *member, json_t *sentences_take, struct answer *answer)
{
    json_t *sentence;
    size_t i;

    json_array_foreach(sentences_take, i, sentence)
        text_addf(&answer->text, "- %s\n", json_string_value(sentence));
    json_object_set_new(answer->structured, member, sentences_take);
}

static json_t *verdict(const struct report_input *input)
{
    json_t *list = report_verdict(input);

    if (json_array_size(list) == 0)
        json_array_append_new(list, json_string("nothing was measured"));
    return list;
}

/* Links to the run's report if the sweep has exactly one run; otherwise, links to the sweep. */
static void add_report(const struct sweep_material *material, struct answer *answer)
{
    TEXT_AUTO uri = { 0 };

    if (material->run_count == 1)
        text_addf(&uri, "opsbrain://runs/%s/report", material->runs[0].id);
    else
        text_addf(&uri, "opsbrain://sweeps/%s", material->sweep.id);
    json_object_set_new(answer->structured, "report", json_string(text_string(&uri)));
    text_addf(&answer->text, "Report: %s\n", text_string(&uri));
}

static void add(const struct sweep_material *material, struct answer *answer)
{
    const struct report_input input = sweep_material_report(material, material);

    if (material->sweep.subject_count == 1) {
        add_list("verdict", verdict(&input), answer);
        add_list("takeaways", report_takeaways(&input), answer);
    }
    add_report(material, answer);
}

bool job_verdict_add(const struct services *services, const struct job *job, struct answer *answer,
                     struct error *error)
{
    struct sweep_material material = { 0 };
    bool done = true;

    if (!job_is_over(job) || strcmp(job->kind, "sweep") != 0)
        return true;
    done = sweep_material_read(services, job->subject, &material, error);
    if (done)
        add(&material, answer);
    sweep_material_finish(&material);
    return done;
}
