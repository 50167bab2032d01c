/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are alike on Google's platforms, and the same as commands. */
#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/google.h"
#include "fleet/recipes/recipe.h"

#define SECRET_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

struct step *google_add(const struct google_list *list, const char *name, const char *method,
                        const char *url, const char *summary)
{
    struct step *step = step_list_add(list->steps, list->count);

    text_copy(step->name, sizeof step->name, name);
    text_copy(step->method, sizeof step->method, method);
    text_copy(step->url, sizeof step->url, url);
    text_copy(step->resource, sizeof step->resource, url);
    snprintf(step->summary, sizeof step->summary, "%.120s %.63s (%.63s)", summary,
             list->desired->deployment, list->desired->place);
    return step;
}

bool google_check_secrets(const struct recipe *recipe, struct error *error)
{
    const json_t *variables = recipe_member(recipe, "environment"), *value;
    const char *variable;

    json_object_foreach(json_iterable(variables), variable, value) {
        const char *name = json_get_text(value, "secret", "x");

        if (name[0] == '\0' || name[strspn(name, SECRET_CHARACTERS)] != '\0')
            return error_set(
                error, ERROR_INVALID,
                "the recipe's \"environment.%.64s\" names no secret of Secret Manager: "
                "those have letters, digits, '-' and '_'",
                variable);
    }
    return true;
}

void google_add_secrets(const struct google_list *list)
{
    const json_t *variables = recipe_member(list->desired->recipe, "environment"), *value;
    const char *variable;

    json_object_foreach(json_iterable(variables), variable, value) {
        const char *secret = json_get_text(value, "secret", NULL);
        char name[64], url[512];
        struct step *step;

        if (secret == NULL)
            continue;
        snprintf(name, sizeof name, "secret-%.56s", secret);
        snprintf(url, sizeof url, GOOGLE_SECRETS "projects/%.63s/secrets/%.128s",
                 list->desired->target->project, secret);
        step = google_add(list, name, "GET", url, "Looks whether the secret is there, for");
        text_copy(step->dry_run_url, sizeof step->dry_run_url, url);
    }
}

struct step *google_add_removal(const struct google_list *list, const char *name, const char *url,
                                const char *summary)
{
    struct step *step = google_add(list, name, "DELETE", url, summary);

    step->absent_is_done = true;
    return step;
}

void google_set_creation(struct step *step)
{
    text_copy(step->url, sizeof step->url, step->resource);
    *strrchr(step->url, '/') = '\0';
    text_copy(step->undo_url, sizeof step->undo_url, step->resource);
    step->creates = true;
}

/* gcloud has no command that takes a body: what is sent is shown as it is. */
void google_command(const struct desired *desired, const struct step *step, struct text *out)
{
    FREE_AUTO char *body = step->body != NULL ? json_dumps(step->body, JSON_INDENT(1)) : NULL;

    if (strncmp(step->name, "secret-", 7) == 0) {
        text_addf(out, "gcloud secrets describe %s --project %s\n", step->name + 7,
                  desired->target->project);
        return;
    }
    text_addf(out, "curl -X %s -H \"Authorization: Bearer $(gcloud auth print-access-token)\" ",
              step->method);
    if (body != NULL)
        text_add(out, "-H 'Content-Type: application/json' --data-binary @- ");
    text_addf(out, "'%s'%s%s%s\n", step->url, body != NULL ? " <<'END'\n" : "",
              body != NULL ? body : "", body != NULL ? "\nEND" : "");
}
