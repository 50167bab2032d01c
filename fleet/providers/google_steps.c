/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the requests that Google's platforms have in common, and shows steps as commands. */
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

void google_add_query(struct step *step, const char *name, const char *value)
{
    size_t length = strlen(step->url);

    snprintf(step->url + length, sizeof step->url - length, "%c%s=%s",
             strchr(step->url, '?') != NULL ? '&' : '?', name, value);
}

bool google_steps(const struct google_verbs *verbs, enum provider_verb verb,
                  const struct desired *desired, const struct observed *now, struct step **out,
                  size_t *count, struct error *error)
{
    struct google_list list = { .desired = desired, .now = now, .steps = out, .count = count };

    *out = NULL;
    *count = 0;
    if (!verbs->check(verb, desired, now, error))
        return false;
    verbs->name(&list);
    verbs->add[verb](&list);
    return true;
}

bool google_check_state(enum provider_verb verb, const struct desired *desired,
                        const struct observed *now, const char *what, struct error *error)
{
    if (verb == VERB_CREATE && now != NULL && now->exists && !now->ours)
        return error_set(
            error, ERROR_CONFLICT,
            "there is a %s %s in %s that this opsbrain did not make: choose another name, "
            "or adopt it",
            what, desired->deployment, desired->place);
    if (verb != VERB_CREATE && verb != VERB_DESTROY && (now == NULL || !now->exists))
        return error_set(error, ERROR_NOT_FOUND, "there is no %s %s in %s", what,
                         desired->deployment, desired->place);
    if ((verb == VERB_CREATE || verb == VERB_UPDATE) && desired->recipe == NULL)
        return error_set(error, ERROR_INVALID, "a %s needs a recipe", what);
    return true;
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
                "the recipe's \"environment.%.64s\" must name a secret in Secret Manager: such a "
                "name has only letters, digits, '-' and '_'",
                variable);
    }
    return true;
}

/* If several variables have the same secret, adds one step for all of them. */
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
        if (step_list_has(*list->steps, *list->count, url))
            continue;
        step = google_add(list, name, "GET", url, "Checks that the secret exists for");
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

/* Shows the request itself, as a curl command. */
static void show_request(const struct step *step, struct text *out)
{
    FREE_AUTO char *body = step->body != NULL ? json_dumps(step->body, JSON_INDENT(1)) : NULL;

    text_addf(out, "curl -X %s -H \"Authorization: Bearer $(gcloud auth print-access-token)\" ",
              step->method);
    if (body != NULL)
        text_add(out, "-H 'Content-Type: application/json' --data-binary @- ");
    text_addf(out, "'%s'%s%s%s\n", step->url, body != NULL ? " <<'END'\n" : "",
              body != NULL ? body : "", body != NULL ? "\nEND" : "");
}

void google_command(const struct desired *desired, const struct step *step,
                    const char *const commands[][2], const char *place, struct text *out)
{
    const char *project = desired->target->project;

    if (strncmp(step->name, "secret-", 7) == 0) {
        text_addf(out, "gcloud secrets describe %s --project %s\n",
                  google_last_part(step->resource), project);
        return;
    }
    for (size_t i = 0; commands[i][0] != NULL; i++)
        if (strcmp(commands[i][0], step->name) == 0) {
            text_addf(out, "gcloud %s %s %s %s --project %s\n", commands[i][1],
                      google_last_part(step->resource), place, desired->place, project);
            return;
        }
    show_request(step, out);
}
