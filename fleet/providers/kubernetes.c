/* SPDX-License-Identifier: Apache-2.0 */
/* The provider for any Kubernetes cluster: its row in the table of providers, and its requirements
 * for a target and the target's credential. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"
#include "fleet/recipes/recipe.h"

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    static const char *const doors[] = { "cluster", "proxy", "node_port" };
    const char *name = target->namespace, *door = kubernetes_door(target);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (length == 0 || length > 63 || name[length] != '\0')
        return error_set(error, ERROR_INVALID,
                         "\"namespace\" is \"%s\": a target on Kubernetes needs one, with at most "
                         "63 characters from a-z, 0-9 and '-'",
                         name);
    if (target->credential.kind != CLOUD_KUBECONFIG && target->credential.kind != CLOUD_IN_CLUSTER)
        return error_set(error, ERROR_INVALID,
                         "\"credential\" is \"%s\": a target on Kubernetes needs kubeconfig or "
                         "in_cluster",
                         cloud_kind_name(target->credential.kind));
    if (strcmp(door, "proxy") == 0 && target->proxy[0] != '\0')
        return error_set(
            error, ERROR_INVALID,
            "with \"door\" proxy, opsbrain calls the servers through the API server and does not "
            "use the target's \"proxy\" for that: set \"door\" to cluster or node_port, or remove "
            "\"proxy\"");
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        if (strcmp(door, doors[i]) == 0)
            return true;
    return error_set(error, ERROR_INVALID,
                     "\"door\" is \"%s\": on Kubernetes it must be cluster, proxy or node_port",
                     door);
}

/* The permissions that the target's credential needs. */
static const struct right {
    const char *verb, *group, *resource, *subresource;
    const char *door; /* needed only for targets with this door; NULL: always needed */
} rights[] = {
    { "get", "apps", "deployments", "" },
    { "list", "apps", "deployments", "" },
    { "create", "apps", "deployments", "" },
    { "patch", "apps", "deployments", "" },
    { "delete", "apps", "deployments", "" },
    { "patch", "apps", "deployments", "scale" },
    { "get", "", "services", "" },
    { "create", "", "services", "" },
    { "patch", "", "services", "" },
    { "deletecollection", "", "services", "" },
    { "get", "", "services", "proxy", "proxy" },
    { "create", "", "services", "proxy", "proxy" },
    { "list", "", "pods", "" },
    { "get", "", "pods", "log" },
    { "get", "", "secrets", "" },
    { "get", "batch", "cronjobs", "" },
    { "create", "batch", "cronjobs", "" },
    { "patch", "batch", "cronjobs", "" },
    { "deletecollection", "batch", "cronjobs", "" },
    { "get", "", "serviceaccounts", "" },
    { "create", "", "serviceaccounts", "" },
    { "patch", "", "serviceaccounts", "" },
    { "deletecollection", "", "serviceaccounts", "" },
    { "get", "rbac.authorization.k8s.io", "roles", "" },
    { "create", "rbac.authorization.k8s.io", "roles", "" },
    { "patch", "rbac.authorization.k8s.io", "roles", "" },
    { "deletecollection", "rbac.authorization.k8s.io", "roles", "" },
    { "get", "rbac.authorization.k8s.io", "rolebindings", "" },
    { "create", "rbac.authorization.k8s.io", "rolebindings", "" },
    { "patch", "rbac.authorization.k8s.io", "rolebindings", "" },
    { "deletecollection", "rbac.authorization.k8s.io", "rolebindings", "" },
};

static CHECKED bool ask_right(struct cloud *cloud, const struct fleet_target *target,
                              const struct right *right, bool *allowed, struct error *error)
{
    static const char url[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    json_auto_t *body = json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s, s:s}}}", "apiVersion",
                                  "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview",
                                  "spec", "resourceAttributes", "namespace", target->namespace,
                                  "verb", right->verb, "group", right->group, "resource",
                                  right->resource, "subresource", right->subresource);
    CLOUD_REPLY_AUTO reply = { 0 };

    if (!cloud_call(cloud, "POST", url, NULL, body, &reply, error))
        return false;
    *allowed = json_get_boolean(json_object_get(reply.body, "status"), "allowed", false);
    return true;
}

static void add_finding(const struct fleet_target *target, const struct right *right, bool allowed,
                        json_t *findings)
{
    TEXT_AUTO what = { 0 };
    json_t *finding;

    text_addf(&what, "%s %s%s%s", right->verb, right->resource,
              right->subresource[0] != '\0' ? "/" : "", right->subresource);
    finding = json_pack("{s:s++, s:b}", "need", text_string(&what), " in ", target->namespace, "ok",
                        allowed);
    if (!allowed)
        json_object_set_new(
            finding, "fix",
            json_sprintf("kubectl create role opsbrain-%s-%s%s%s -n %s --verb=%s "
                         "--resource=%s%s%s%s%s, and bind it to the user or account of the "
                         "target's credential",
                         right->verb, right->resource, right->subresource[0] != '\0' ? "-" : "",
                         right->subresource, target->namespace, right->verb, right->resource,
                         right->group[0] != '\0' ? "." : "", right->group,
                         right->subresource[0] != '\0' ? "/" : "", right->subresource));
    json_array_append_new(findings, finding);
}

bool kubernetes_check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                      struct error *error)
{
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        bool allowed = false;

        if (rights[i].door != NULL && strcmp(kubernetes_door(target), rights[i].door) != 0)
            continue;
        if (!ask_right(cloud, target, &rights[i], &allowed, error))
            return false;
        add_finding(target, &rights[i], allowed, findings);
    }
    return true;
}

static void lint(const struct desired *desired, json_t *warnings)
{
    const struct recipe *recipe = desired->recipe;
    const char *from = recipe_text(recipe, "weights.from", "hub");

    if (recipe->chips > 0 && recipe_member(recipe, "kubernetes.node_labels") == NULL)
        json_array_append_new(warnings,
                              json_string("The recipe selects no nodes, so any node with "
                                          "the required accelerator resource can be used."));
    if (strcmp(from, "bucket") == 0)
        json_array_append_new(
            warnings,
            json_string("A mounted bucket needs GKE with the Cloud Storage FUSE driver."));
    json_array_append_new(warnings,
                          json_sprintf("An update needs the resources of one more pod%s until the "
                                       "new pods are ready.",
                                       recipe->chips > 0 ? ", including its accelerators," : ""));
}

static const char *describe_guard(const struct desired *desired)
{
    if (desired->ends_ms == 0)
        return NULL;
    return desired->end_destroys
               ? "a CronJob in the cluster deletes the Deployment at the planned end, using an "
                 "account that can delete nothing else"
               : "a CronJob in the cluster scales the Deployment to 0 at the planned end, using "
                 "an account that can change nothing else";
}

bool kubernetes_key(struct cloud *cloud, const struct observed *observed,
                    char out[SECRET_VALUE_SIZE], struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    const char *end = strstr(observed->resource, "/deployments/");
    size_t start = strlen("/apis/apps/v1/namespaces/");
    char url[512];

    out[0] = '\0';
    if (cloud_is_own(cloud, observed->address))
        return cloud_server_token(cloud, out, error);
    if (strstr(observed->address, ".svc:") != NULL || end == NULL)
        return true;
    snprintf(url, sizeof url, "/api/v1/namespaces/%.*s/secrets/%s-key",
             (int)((size_t)(end - observed->resource) - start), observed->resource + start,
             observed->name);
    return cloud_read(cloud, url, &reply, error)
           && (provider_read_key(json_get_text(json_object_get(reply.body, "data"), "key", ""), out)
               || error_set(error, ERROR_INVALID,
                            "the Secret %s-key needs a member \"key\" with 1 to %d bytes of text",
                            observed->name, SECRET_VALUE_SIZE - 1));
}

extern const struct provider provider_kubernetes;
const struct provider provider_kubernetes = {
    .name = "kubernetes",
    .title = "Kubernetes",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_UPDATE) | VERB_BIT(VERB_START)
             | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_SCALE) | VERB_BIT(VERB_EXTEND)
             | VERB_BIT(VERB_DESTROY),
    .lock =
        "depending on the target's door, the server is reached only inside the cluster, through "
        "the API server's proxy with the cluster's own credential, or through a port on the "
        "nodes with a key from a Secret in the namespace",
    .check_target = check_target,
    .steps = kubernetes_steps,
    .outcome = kubernetes_outcome,
    .observe = kubernetes_observe,
    .list = kubernetes_list,
    .check = kubernetes_check,
    .lint = lint,
    .command = kubernetes_command,
    .describe_guard = describe_guard,
    .key = kubernetes_key,
    .key_lasts_ms = 60000,
    .keeps_replicas = true,
};
