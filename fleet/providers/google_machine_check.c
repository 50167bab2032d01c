/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses targets and recipes that cannot be used for Google machines, finds what a target lacks,
 * and warns about what is unwise. */
#include <arpa/inet.h>
#include <string.h>

#include "fleet/providers/google_machine.h"
#include "fleet/recipes/recipe.h"

#define SHORTEST_IPV4_PREFIX 8 /* bits: the largest private network is 10.0.0.0/8 */
#define SHORTEST_IPV6_PREFIX 16

/* The environment variables from which engines read their API keys. */
static const struct engine {
    const char *name, *variable;
} engines[] = {
    { "vllm", "VLLM_API_KEY" },
    { "llama.cpp", "LLAMA_API_KEY" },
};

const char *google_machine_key_variable(const struct recipe *recipe)
{
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (strcmp(recipe->engine, engines[i].name) == 0)
            return engines[i].variable;
    return NULL;
}

/* ---- The target ---- */

/* Returns true for an address with a prefix length, unless the prefix is too short. */
static bool is_range(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : 0;
    unsigned char bytes[16];
    int64_t bits;

    if (length == 0 || length >= sizeof address || !text_to_integer(slash + 1, 0, 128, &bits))
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (inet_pton(AF_INET, address, bytes) == 1)
        return bits >= SHORTEST_IPV4_PREFIX && bits <= 32;
    return inet_pton(AF_INET6, address, bytes) == 1 && bits >= SHORTEST_IPV6_PREFIX;
}

static CHECKED bool check_ranges(const struct fleet_target *target, const char *title,
                                 struct error *error)
{
    if (target->source_range_count == 0)
        return error_set(
            error, ERROR_INVALID,
            "a target on %s needs \"source_ranges\": the addresses that can reach a server's port",
            title);
    for (size_t i = 0; i < target->source_range_count; i++)
        if (!is_range(target->source_ranges[i]))
            return error_set(error, ERROR_INVALID,
                             "\"source_ranges\" has \"%s\": a range looks like 203.0.113.4/32 or "
                             "10.0.0.0/8, with a prefix of at least %d bits (IPv6: %d), so that no "
                             "server is open to everybody",
                             target->source_ranges[i], SHORTEST_IPV4_PREFIX, SHORTEST_IPV6_PREFIX);
    return true;
}

/* The names must be safe to write into the URLs and bodies of requests. */
static CHECKED bool check_names(const struct fleet_target *target, struct error *error)
{
    const struct {
        const char *member, *value, *more, *like;
    } rows[] = {
        { "service_account", target->service_account,
          "_./@:", "servers@project.iam.gserviceaccount.com" },
        { "network", target->network, "_./@:", "default" },
        { "subnetwork", target->subnetwork, "_./@:", "default" },
        { "reservation", target->reservation, "", "team-v6e" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char allowed[64] = "abcdefghijklmnopqrstuvwxyz0123456789-";

        strcat(allowed, rows[i].more);
        if (rows[i].value[strspn(rows[i].value, allowed)] != '\0'
            || strstr(rows[i].value, "..") != NULL)
            return error_set(error, ERROR_INVALID,
                             "\"%s\" is \"%.200s\": it must be a Google name such as %s",
                             rows[i].member, rows[i].value, rows[i].like);
    }
    return true;
}

bool google_machine_check_target(const struct fleet_target *target, const char *title,
                                 struct error *error)
{
    if (target->door[0] != '\0' && strcmp(target->door, "external") != 0
        && !google_machine_is_inside(target))
        return error_set(error, ERROR_INVALID,
                         "\"door\" is \"%s\": on %s it must be external (an address that the "
                         "firewall guards) or internal (an address within the network)",
                         target->door, title);
    if (target->service_account[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "a target on %s needs a \"service_account\", with which its machines read "
                         "their secrets",
                         title);
    return google_check_target(target, title, true, error) && check_names(target, error)
           && check_ranges(target, title, error);
}

bool google_machine_check_needs(struct cloud *cloud, const struct fleet_target *target,
                                json_t *findings, struct error *error)
{
    static const char *const permissions[] = {
        "compute.firewalls.create",      "compute.firewalls.delete",
        "compute.firewalls.get",         "compute.globalOperations.get",
        "compute.networks.updatePolicy", "iam.serviceAccounts.actAs",
        "secretmanager.secrets.create",  "secretmanager.secrets.delete",
        "secretmanager.secrets.get",     "secretmanager.secrets.setIamPolicy",
        "secretmanager.versions.access", NULL,
    };
    static const char *const services[] = { "compute.googleapis.com",
                                            "secretmanager.googleapis.com", NULL };

    if (!google_check_permissions(cloud, target, permissions, findings, error))
        return false;
    google_check_services(cloud, target, services, findings);
    google_check_resources(cloud, target, true, findings);
    return true;
}

bool google_machine_is_inside(const struct fleet_target *target)
{
    return strcmp(target->door, "internal") == 0;
}

/* ---- The recipe ---- */

bool google_machine_check(const struct desired *desired, const char *title, struct error *error)
{
    const struct recipe *recipe = desired->recipe;

    if (strcmp(recipe->status, "cannot_work") == 0)
        return error_set(error, ERROR_INVALID, "the recipe %s cannot work: %s", recipe->name,
                         recipe->reason);
    if (recipe->image[0] == '\0')
        return error_set(error, ERROR_INVALID, "on %s a recipe needs an image", title);
    if (strcmp(recipe_text(recipe, "weights.from", ""), "hub") != 0)
        return error_set(error, ERROR_INVALID,
                         "on %s the engine downloads the weights from the hub: the recipe's "
                         "\"weights.from\" must be \"hub\"",
                         title);
    if (google_machine_key_variable(recipe) == NULL)
        return error_set(error, ERROR_INVALID,
                         "on %s a server needs an API key, but %s reads none from its environment: "
                         "use vllm or llama.cpp",
                         title, recipe->engine);
    if (desired->kind[0] != '\0' && recipe_member(recipe, "kinds") != NULL
        && !recipe_lists(recipe, "kinds", desired->kind))
        return error_set(error, ERROR_INVALID,
                         "the hardware of the recipe %s cannot be bought as %s", recipe->name,
                         desired->kind);
    return google_check_secrets(recipe, error);
}

void google_machine_lint(json_t *warnings)
{
    const struct google_warning rows[] = {
        { true, "The key, prompts and answers cross the network without TLS: limit the source "
                "ranges to your own networks." },
        { true,
          "Every start downloads the weights, and the first start also downloads the image." },
    };

    google_warn(rows, sizeof rows / sizeof rows[0], warnings);
}
