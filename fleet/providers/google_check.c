/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a target on Google's platforms: its members, permissions, APIs, and the resources that it
 * names. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/google.h"

#define PROJECT_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-:."
#define PLACE_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

/* Returns true for a zone such as "europe-west4-a" or, if not `is_zone`, for a region such as
 * "europe-west4". */
static bool is_place(const char *name, bool is_zone)
{
    size_t length = strlen(name);
    bool has_letter = length > 4 && name[length - 2] == '-' && name[length - 1] >= 'a';

    return length > 0 && name[strspn(name, PLACE_CHARACTERS)] == '\0' && has_letter == is_zone;
}

bool google_check_target(const struct fleet_target *target, const char *title, bool has_zones,
                         struct error *error)
{
    const char *place =
        has_zones ? "a zone, such as europe-west4-a" : "a region, such as europe-west4";
    size_t length = strspn(target->project, PROJECT_CHARACTERS);

    if (length == 0 || target->project[length] != '\0')
        return error_set(error, ERROR_INVALID,
                         "\"project\" is \"%s\": a target on %s needs its project's id",
                         target->project, title);
    if (target->credential.kind != CLOUD_WORKLOAD_IDENTITY
        && target->credential.kind != CLOUD_SERVICE_ACCOUNT_FILE)
        return error_set(error, ERROR_INVALID,
                         "a target on %s needs a \"credential\" of kind workload_identity or "
                         "service_account_file",
                         title);
    for (size_t i = 0; i < target->place_count; i++)
        if (!is_place(target->places[i], has_zones))
            return error_set(error, ERROR_INVALID, "\"regions\" has \"%s\": on %s each must be %s",
                             target->places[i], title, place);
    return target->place_count > 0
           || error_set(error, ERROR_INVALID, "a target on %s needs \"regions\": %s", title, place);
}

void google_add_finding(json_t *findings, const char *need, bool ok, json_t *fix)
{
    json_t *finding = json_pack("{s:s, s:b}", "need", need, "ok", ok);

    if (ok)
        json_decref(fix);
    else
        json_object_set_new(finding, "fix", fix);
    json_array_append_new(findings, finding);
}

void google_warn(const struct google_warning *rows, size_t count, json_t *warnings)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].applies)
            json_array_append_new(warnings, json_string(rows[i].sentence));
}

/* ---- Permissions ---- */

static bool contains(const json_t *list, const char *text)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
        if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
            return true;
    return false;
}

bool google_check_permissions(struct cloud *cloud, const struct fleet_target *target,
                              const char *const *permissions, json_t *findings, struct error *error)
{
    json_auto_t *body = json_pack("{s:[]}", "permissions");
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[256];

    for (const char *const *one = permissions; *one != NULL; one++)
        json_array_append_new(json_object_get(body, "permissions"), json_string(*one));
    snprintf(url, sizeof url,
             "https://cloudresourcemanager.googleapis.com/v1/projects/%s:testIamPermissions",
             target->project);
    if (!cloud_call(cloud, "POST", url, NULL, body, &reply, error))
        return false;
    for (const char *const *one = permissions; *one != NULL; one++)
        google_add_finding(
            findings, *one, contains(json_object_get(reply.body, "permissions"), *one),
            json_sprintf("grant %s a role with %s on the project", cloud_identity(cloud), *one));
    return true;
}

/* ---- APIs ---- */

static bool is_enabled(struct cloud *cloud, const char *project, const char *service)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char url[256];

    snprintf(url, sizeof url, "https://serviceusage.googleapis.com/v1/projects/%.63s/services/%s",
             project, service);
    return cloud_read(cloud, url, &reply, &ignored)
           && strcmp(json_get_text(reply.body, "state", ""), "ENABLED") == 0;
}

void google_check_services(struct cloud *cloud, const struct fleet_target *target,
                           const char *const *services, json_t *findings)
{
    for (; *services != NULL; services++) {
        char need[128];

        snprintf(need, sizeof need, "the API %s is enabled", *services);
        google_add_finding(
            findings, need, is_enabled(cloud, target->project, *services),
            json_sprintf("gcloud services enable %s --project %s", *services, target->project));
    }
}

/* ---- Named resources ---- */

json_t *google_network(const struct fleet_target *target)
{
    const char *name = target->network[0] != '\0' ? target->network : "default";

    return strchr(name, '/') != NULL ? json_string(name) : json_sprintf("global/networks/%s", name);
}

static void check_resource(struct cloud *cloud, const char *what, const char *name, const char *url,
                           json_t *findings)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error problem = { 0 };
    bool exists = cloud_read(cloud, url, &reply, &problem);
    char need[320];

    snprintf(need, sizeof need, "the %s %.255s", what, name);
    google_add_finding(findings, need, exists, json_sprintf("%.400s", problem.message));
}

static void check_network(struct cloud *cloud, const struct fleet_target *target, json_t *findings)
{
    json_auto_t *network = google_network(target);
    const char *name = json_string_value(network);
    char url[1024];

    if (strncmp(name, "projects/", 9) == 0)
        snprintf(url, sizeof url, GOOGLE_COMPUTE "%.400s", name);
    else
        snprintf(url, sizeof url, GOOGLE_COMPUTE "projects/%.63s/%.400s", target->project, name);
    check_resource(cloud, "network", name, url, findings);
}

void google_check_resources(struct cloud *cloud, const struct fleet_target *target,
                            bool for_machines, json_t *findings)
{
    char url[1024];

    snprintf(url, sizeof url, GOOGLE_IAM "projects/%.63s/serviceAccounts/%.255s", target->project,
             target->service_account);
    if (target->service_account[0] != '\0')
        check_resource(cloud, "service account", target->service_account, url, findings);
    if (for_machines || target->network[0] != '\0')
        check_network(cloud, target, findings);
    snprintf(url, sizeof url, "https://storage.googleapis.com/storage/v1/b/%.127s?fields=name",
             target->bucket);
    if (target->bucket[0] != '\0')
        check_resource(cloud, "bucket", target->bucket, url, findings);
}
