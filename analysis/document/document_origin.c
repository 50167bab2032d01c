/* SPDX-License-Identifier: Apache-2.0 */
/* Writes where the figures come from: what was measured, with which tool, by whom. */
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"

#define VALUE_BYTES 600
#define REMARKS_SHOWN 40

/* ---- Names and values ---- */

static void write_term(const char *name, struct html *html)
{
    TEXT_AUTO words = { 0 };

    for (const char *c = name; *c != '\0'; c++)
        text_add_bytes(&words, *c == '_' ? " " : c, 1);
    html_element(html, "dt", text_string(&words));
}

static void write_fact(const char *name, const char *value, struct html *html)
{
    TEXT_AUTO shown = { 0 };

    if (value == NULL || value[0] == '\0')
        return;
    text_add_printable(&shown, value, strlen(value), VALUE_BYTES);
    text_add(&shown, strlen(value) > VALUE_BYTES ? "..." : "");
    write_term(name, html);
    html_open(html, "dd");
    html_name(html, text_string(&shown));
    html_close(html, "dd");
}

static bool is_empty(const json_t *value)
{
    return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0)
           || ((json_is_object(value) || json_is_array(value)) && json_object_size(value) == 0
               && json_array_size(value) == 0);
}

void document_add_value(const json_t *value, struct text *out)
{
    const char *name;
    json_t *member;

    if (json_is_string(value)) {
        text_add(out, json_string_value(value));
        return;
    }
    if (!json_is_object(value)) {
        json_add(out, value);
        return;
    }
    json_object_foreach(json_iterable(value), name, member) {
        FREE_AUTO char *written = NULL;

        if (is_empty(member))
            continue;
        text_addf(out, "%s%s=", out->length > 0 ? ", " : "", name);
        written = json_is_string(member) ? memory_copy_text(json_string_value(member))
                                         : json_write(member);
        text_add(out, written);
    }
}

static void write_members(const json_t *object, struct html *html)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(object), name, value) {
        TEXT_AUTO shown = { 0 };

        if (is_empty(value))
            continue;
        document_add_value(value, &shown);
        write_fact(name, text_string(&shown), html);
    }
}

/* ---- Runs and imports ---- */

static void write_run(const struct evidence *run, struct html *html)
{
    char time[CLOCK_TEXT_SIZE];

    write_fact(run->imported ? "import" : "run", run->id, html);
    if (run->imported)
        write_fact("file", run->name, html);
    write_fact(run->imported ? "SHA-256" : "fingerprint", run->digest, html);
    write_fact(run->imported ? "imported by" : "measured by", run->principal, html);
    if (run->created_ms > 0)
        write_fact(run->imported ? "imported at" : "measured from",
                   clock_format_utc(run->created_ms, time), html);
    write_fact("corrects", run->corrects, html);
    write_fact("corrected by", run->corrected_by, html);
    write_fact("notes", run->notes, html);
}

static void write_facts(const struct evidence *run, struct html *html)
{
    json_auto_t *facts = evidence_facts_json(&run->facts);

    if (json_object_size(facts) == 0)
        write_fact("model", "the file names no model, engine, hardware or price", html);
    write_members(facts, html);
    write_fact("format", run->format, html);
    write_fact("input lengths in",
               run->input_unit == LENGTH_UNKNOWN
                   ? "a unit that the file does not state (tokens or words)"
                   : length_unit_name(run->input_unit),
               html);
}

static void write_stored(const char *stored, struct html *html)
{
    json_t *json = NULL;
    struct error ignored; /* stored JSON that cannot be parsed is not shown */

    if (stored != NULL && json_parse(stored, strlen(stored), &json, &ignored))
        write_members(json, html);
    json_decref(json);
}

/* Writes who measured a sweep, its fingerprint, client and plan, and its state. */
static void write_sweep(const struct report_input *input, struct html *html)
{
    static const char *const members[] = { "fingerprint", "client", "plan" };
    json_auto_t *report = report_json(input);

    write_stored(input->run_count > 0 ? input->runs[0].provenance : NULL, html);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        write_members(json_object_get(report, members[i]), html);
    write_fact("sweep", input->sweep->id, html);
    write_fact("state", input->sweep->state, html);
    write_fact("reason", input->sweep->reason, html);
}

static void write_remarks(const json_t *remarks, struct html *html)
{
    const json_t *remark;
    size_t i;

    if (json_array_size(remarks) == 0)
        return;
    html_element(html, "h3", "Remarks from the import");
    html_open(html, "ul");
    json_array_foreach(remarks, i, remark)
        if (i < REMARKS_SHOWN)
            html_element(html, "li", json_string_value(remark));
    html_close(html, "ul");
}

void document_write_origin(const struct document_part *part, struct html *html)
{
    html_element(html, "h2", "Provenance");
    if (part->runs.runs[0].imported)
        html_element(html, "p",
                     "Read from an imported file. Facts that neither the file nor the import "
                     "states are not shown.",
                     { "class", "soft" });
    html_open(html, "dl", { "class", "facts" });
    if (part->report != NULL)
        write_sweep(part->report, html);
    else
        write_facts(&part->runs.runs[0], html);
    for (size_t i = 0; i < part->runs.count; i++)
        write_run(&part->runs.runs[i], html);
    html_close(html, "dl");
    write_remarks(part->runs.runs[0].remarks, html);
}
