/* SPDX-License-Identifier: Apache-2.0 */
/* Shows requests as kubectl commands. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"

static void add_manifest(const struct step *step, struct text *out)
{
    FREE_AUTO char *json = json_dumps(step->body, JSON_INDENT(1));

    if (strcmp(step->method, "POST") == 0)
        text_addf(out, "kubectl create --field-manager=opsbrain -f - <<'END'\n%s\nEND\n", json);
    else
        text_addf(out,
                  "kubectl apply --server-side --field-manager=opsbrain%s -f - <<'END'\n%s\nEND\n",
                  strstr(step->url, "force=true") != NULL ? " --force-conflicts" : "", json);
}

/* Finds the resource type in a step's URL, ".../namespaces/llm/cronjobs?...".
 * Returns the length of the type. */
static size_t find_type(const struct step *step, const char **out)
{
    const char *namespace = strstr(step->url, "/namespaces/") + strlen("/namespaces/");

    *out = strchr(namespace, '/') + 1;
    return strcspn(*out, "/?");
}

static void add_get(const struct desired *desired, const struct step *step, struct text *out)
{
    const char *name = desired->deployment, *namespace = desired->target->namespace;

    if (strncmp(step->name, "secret-", 7) == 0)
        text_addf(out, "kubectl get secret %s -n %s\n", strrchr(step->resource, '/') + 1,
                  namespace);
    else if (strcmp(step->name, "ready") == 0)
        text_addf(out, "kubectl rollout status deployment/%s -n %s\n", name, namespace);
    else if (strcmp(step->name, "gone") == 0)
        text_addf(out, "kubectl wait --for=delete deployment/%s -n %s\n", name, namespace);
    else
        text_addf(out, "kubectl wait --for=delete pod -l " KUBERNETES_DEPLOYMENT "=%s -n %s\n",
                  name, namespace);
}

static void add_annotation(const struct desired *desired, const struct step *step, struct text *out)
{
    const json_t *notes = json_object_get(json_object_get(step->body, "metadata"), "annotations"),
                 *value;
    const char *name;

    text_addf(out, "kubectl annotate --overwrite deployment/%s", desired->deployment);
    json_object_foreach(json_iterable(notes), name, value)
        text_addf(out, " '%s=%s'", name, json_string_value(value));
    text_addf(out, " -n %s\n", desired->target->namespace);
}

void kubernetes_command(const struct desired *desired, const struct step *step, struct text *out)
{
    const char *name = desired->deployment, *namespace = desired->target->namespace;

    if (strcmp(step->content_type, KUBERNETES_APPLY) == 0 || strcmp(step->method, "POST") == 0)
        add_manifest(step, out);
    else if (strcmp(step->method, "GET") == 0)
        add_get(desired, step, out);
    else if (strcmp(step->name, "scale") == 0)
        text_addf(out, "kubectl scale deployment/%s --replicas=%lld -n %s\n", name,
                  (long long)json_get_integer(json_object_get(step->body, "spec"), "replicas", 0),
                  namespace);
    else if (strcmp(step->name, "annotation") == 0)
        add_annotation(desired, step, out);
    else if (strcmp(step->name, "remove-deployment") == 0)
        text_addf(out, "kubectl delete deployment/%s --cascade=foreground -n %s\n", name,
                  namespace);
    else {
        const char *type;
        size_t length = find_type(step, &type);

        text_addf(out,
                  "kubectl delete %.*s -l " KUBERNETES_INSTANCE "=%s," KUBERNETES_DEPLOYMENT
                  "=%s -n %s\n",
                  (int)length, type, desired->instance, name, namespace);
    }
}
