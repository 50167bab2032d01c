/* SPDX-License-Identifier: Apache-2.0 */
/* fake_clouds PROVIDER: runs a provider's fake as a process. Prints a line of JSON with the values
 * for target_register and `opsbrain serve`, accepts commands on a port of their own, and ends when
 * its standard input does. Without a known PROVIDER, it lists the cloud providers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "tests/clouds/trial.h"
#include "tests/clouds/trial_faults.h"

/* ---- Commands ---- */

static void set_fault(struct trial_site *site, const json_t *body)
{
    const char *name = json_get_text(body, "name", "");

    for (const struct trial_fault *row = trial_faults(); row->fault.name != NULL; row++)
        if (strcmp(row->fault.name, name) == 0)
            fake_faults_set(&site->faults, &row->fault, (int)json_get_integer(body, "at", 1));
}

/* Makes the fake answer request number "at", counted from now, with the command's "status" and
 * "body". */
static void set_answer(struct trial_site *site, const json_t *body)
{
    static struct fake_fault answer;
    static char text[1024];

    fake_faults_set(&site->faults, NULL, 0);
    snprintf(text, sizeof text, "%s", json_get_text(body, "body", ""));
    answer = (struct fake_fault){ .name = "answer",
                                  .times = 1,
                                  .status = (int)json_get_integer(body, "status", 500),
                                  .body = text };
    fake_faults_set(&site->faults, &answer, (int)json_get_integer(body, "at", 1));
}

static json_t *show_state(struct trial_site *site)
{
    struct fake_faults *faults = &site->faults;
    char *touched = trial_site_touched(site);
    json_t *out = json_pack("{s:b, s:i, s:i, s:i, s:o, s:s?}", "killed", (int)faults->killed,
                            "events", faults->events, "requests", faults->requests, "created",
                            faults->created, "made", trial_site_made(site), "touched", touched);

    free(touched);
    return out;
}

static json_t *show_log(struct fake_faults *faults)
{
    json_t *out;

    pthread_mutex_lock(&faults->lock);
    out = json_deep_copy(faults->log);
    pthread_mutex_unlock(&faults->lock);
    return out;
}

static json_t *show_objects(struct trial_site *site)
{
    json_t *out;

    fake_server_hold(site->server);
    out = json_deep_copy(site->objects);
    fake_server_release(site->server);
    return out;
}

static void control(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct trial_site *site = context;
    json_auto_t *body = json_loads(request->length > 0 ? request->body : "{}", 0, NULL),
                *out = NULL;

    if (strcmp(request->path, "/kill") == 0)
        fake_faults_kill(&site->faults, (pid_t)json_get_integer(body, "pid", 0),
                         (int)json_get_integer(body, "event", 0));
    else if (strcmp(request->path, "/disarm") == 0)
        fake_faults_disarm(&site->faults);
    else if (strcmp(request->path, "/fault") == 0)
        set_fault(site, body);
    else if (strcmp(request->path, "/answer") == 0)
        set_answer(site, body);
    else if (strcmp(request->path, "/condition") == 0)
        site->trial->set(site, json_get_text(body, "name", ""));
    else if (strcmp(request->path, "/reset") == 0)
        trial_site_reset(site);
    out = strcmp(request->path, "/log") == 0       ? show_log(&site->faults)
          : strcmp(request->path, "/objects") == 0 ? show_objects(site)
                                                   : show_state(site);
    json_add(&reply->body, out);
}

/* ---- The printed line ---- */

static json_t *target_arguments(const struct fleet_target_row *target)
{
    json_t *out = json_loads(target->place, 0, NULL);

    json_object_update_new(
        out,
        json_pack("{s:s, s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:b, s:b, s:o}", "name", target->name,
                  "provider", target->provider, "credential", target->credential, "regions",
                  json_loads(target->regions, 0, NULL), "usd_per_hour", target->deployment_usd,
                  "total_usd_per_hour", target->total_usd, "agent_usd_per_hour", target->agent_usd,
                  "agent_usd_per_life", target->agent_life_usd, "allows_no_price",
                  (int)target->allows_no_price, "allows_no_guard", (int)target->allows_no_guard,
                  "source_ranges", json_loads(target->source_ranges, 0, NULL)));
    if (target->credential_file[0] != '\0')
        json_object_set_new(out, "credential_file", json_string(target->credential_file));
    return out;
}

static json_t *verbs_of(const char *provider)
{
    unsigned verbs = provider_find(provider)->verbs;
    json_t *out = json_array();

    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++)
        if ((verbs & VERB_BIT(verb)) != 0)
            json_array_append_new(out, json_string(provider_verb_name(verb)));
    return out;
}

static void introduce(const struct trial_site *site, const struct fake_server *server)
{
    json_auto_t *out = json_pack(
        "{s:i, s:s, s:s, s:s, s:o, s:o}", "port", fake_server_port(server), "endpoints",
        site->endpoints, "credential", site->credential, "recipe", site->trial->recipe, "target",
        target_arguments(&site->trial->target), "verbs", verbs_of(site->trial->target.provider));

    json_dumpf(out, stdout, JSON_COMPACT);
    printf("\n");
    fflush(stdout);
}

static int list_providers(void)
{
    for (const struct trial *trial = trial_all(); trial->recipe != NULL; trial++)
        if (!trial->is_here)
            printf("%s\n", trial->target.provider);
    return 0;
}

int main(int count, char **arguments)
{
    const struct trial *trial = count == 2 ? trial_find(arguments[1]) : NULL;
    struct trial_site site;
    struct fake_server *server;

    if (trial == NULL)
        return list_providers();
    trial_site_start(&site, trial);
    site.faults.log = json_array();
    server = fake_server_start(control, &site);
    introduce(&site, server);
    while (getchar() != EOF)
        ;
    fake_server_stop(server);
    trial_site_stop(&site);
    return 0;
}
