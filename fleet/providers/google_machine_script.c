/* SPDX-License-Identifier: Apache-2.0 */
/* The script that starts a model server on a Google machine at every boot. Anyone who is allowed
 * to view the machine can read the script and, on Compute Engine, its output on the serial port. */
#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/google_machine.h"
#include "fleet/recipes/recipe.h"

#define CONTAINER "opsbrain-server"

/* ---- Shell quoting ---- */

/* Appends a space and the word in single quotes. Only a single quote within the word needs to be
 * escaped. */
static void add_word(struct text *out, const char *word)
{
    text_add(out, " '");
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            text_add(out, "'\\''");
        else
            text_add_bytes(out, c, 1);
    text_add(out, "'");
}

static void add_option(struct text *out, const char *option, const char *value)
{
    text_add(out, " ");
    text_add(out, option);
    add_word(out, value);
}

/* ---- The script's parts ---- */

/* Tokens are passed to curl through a pipe, because every user can see a program's arguments. */
static const char functions[] =
    "set -u\n"
    "metadata=http://metadata.google.internal/computeMetadata/v1/instance\n"
    "secrets=https://secretmanager.googleapis.com/v1/projects/$project/secrets\n"
    "say() { echo \"opsbrain: $*\"; }\n"
    "tell() {\n"
    "    curl -sf -X PUT --data-binary \"$2\" -H 'Metadata-Flavor: Google' \\\n"
    "        \"$metadata/guest-attributes/" GOOGLE_ATTRIBUTES "$1\" >/dev/null || true\n"
    "}\n"
    "phase() { say \"phase $1\"; tell phase \"$1\"; }\n"
    "member() { python3 -c 'import json, sys\n"
    "value = json.load(sys.stdin)\n"
    "for name in sys.argv[1:]: value = value[name]\n"
    "print(value)' \"$@\"; }\n"
    "token() {\n"
    "    curl -sf -H 'Metadata-Flavor: Google' \"$metadata/service-accounts/default/token\" |\n"
    "        member access_token\n"
    "}\n"
    "authorization() { printf 'Authorization: Bearer %s' \"$(token)\"; }\n"
    "secret() {\n"
    "    curl -sf -H @<(authorization) \"$secrets/$1/versions/latest:access\" |\n"
    "        member payload data | base64 -d\n"
    "}\n"
    "make_key() {\n"
    "    od -An -tx1 -N32 /dev/urandom | tr -d ' \\n' | base64 -w 0 |\n"
    "        sed 's/.*/{\"payload\": {\"data\": \"&\"}}/' |\n"
    "        curl -sf -H @<(authorization) -H 'Content-Type: application/json' --data-binary @- "
    "\\\n"
    "            \"$secrets/$1:addVersion\" >/dev/null\n"
    "}\n"
    "end() { say \"$*\"; tell line \"$*\"; phase failed; exit 1; }\n";

static void add_secret(struct text *out, const char *variable, const char *secret, bool makes_key)
{
    text_addf(out, "for try in $(seq 60); do\n    %s=$(secret %s) && [ -n \"$%s\" ] && break\n",
              variable, secret, variable);
    if (makes_key)
        text_addf(out, "    make_key %s || sleep \"$pause\"\ndone\n", secret);
    else
        text_add(out, "    sleep \"$pause\"\ndone\n");
    text_addf(out, "[ -n \"$%s\" ] || end 'the secret %s cannot be read'\nexport %s\n", variable,
              secret, variable);
}

/* The script reads the recipe's secrets and the key into variables, which are passed to the
 * container by name. If it cannot read a key, it makes one. */
static void add_secrets(const struct recipe *recipe, const struct google_machine *machine,
                        struct text *out)
{
    const json_t *variables = recipe_member(recipe, "environment"), *value;
    const char *name;

    json_object_foreach(json_iterable(variables), name, value)
        if (json_is_object(value))
            add_secret(out, name, json_get_text(value, "secret", ""), false);
    add_secret(out, google_machine_key_variable(recipe), machine->secret, true);
}

static bool is_tpu(const struct recipe *recipe)
{
    return strncmp(recipe->hardware, "google-tpu", strlen("google-tpu")) == 0;
}

static void add_image(const struct recipe *recipe, struct text *out)
{
    const char *host = strstr(recipe->image, "-docker.pkg.dev/");

    text_add(out, "phase image\n"
                  "command -v docker >/dev/null ||\n"
                  "    { apt-get -q update && apt-get -q install -y docker.io; } >/dev/null\n");
    if (!is_tpu(recipe) && recipe->chips > 0)
        text_add(out, "for try in $(seq 60); do nvidia-smi >/dev/null && break; sleep \"$pause\"; "
                      "done\n");
    if (host != NULL) {
        FREE_AUTO char *registry =
            strndup(recipe->image, (size_t)(strchr(host, '/') - recipe->image));

        text_add(out, "token | docker login -u oauth2accesstoken --password-stdin");
        add_word(out, registry);
        text_add(out, "\n");
    }
    text_add(out, "for try in $(seq 30); do docker pull -q");
    add_word(out, recipe->image);
    text_add(out, " && break; sleep \"$pause\"; done\n");
}

static void add_host(const struct recipe *recipe, struct text *out)
{
    long long port = (long long)recipe_integer(recipe, "port", 8000);
    long long shared_gib = (long long)recipe_integer(recipe, "host.shared_memory_gib", 0);

    if (is_tpu(recipe))
        text_add(out, " --privileged --network host -v /dev/shm:/dev/shm");
    else
        text_addf(out, "%s -p %lld:%lld", recipe->chips > 0 ? " --gpus all" : "", port, port);
    if (shared_gib > 0)
        text_addf(out, " --shm-size %lldg", shared_gib);
    else if (!is_tpu(recipe))
        text_add(out, " --ipc host");
}

static void add_environment(const struct recipe *recipe, struct text *out)
{
    const json_t *variables = recipe_member(recipe, "environment"), *value;
    const char *name;

    json_object_foreach(json_iterable(variables), name, value) {
        TEXT_AUTO pair = { 0 };

        text_add(&pair, name);
        if (json_is_string(value))
            text_addf(&pair, "=%s", json_string_value(value));
        add_option(out, "-e", text_string(&pair));
    }
    add_option(out, "-e", google_machine_key_variable(recipe));
}

/* Keeps the container from getting the machine's own token: it can use the metadata server for DNS,
 * but not for tokens. On a TPU, the container shares the machine's network and cannot be
 * restricted. */
static void add_guard(const struct recipe *recipe, struct text *out)
{
    if (!is_tpu(recipe))
        text_add(out, "iptables -I DOCKER-USER -d 169.254.169.254 -p tcp --dport 80 -j REJECT || "
                      "end 'the metadata server cannot be closed to the container'\n");
}

/* If the recipe has a command, this command replaces that of the image, and its first word becomes
 * the entry point. */
static void add_run(const struct desired *desired, struct text *out)
{
    const struct recipe *recipe = desired->recipe;
    json_auto_t *argv = recipe_argv(recipe, desired->deployment);
    size_t first = json_array_size(recipe_member(recipe, "command")) > 0 ? 1 : 0;

    text_add(out,
             "docker rm -f " CONTAINER " >/dev/null 2>&1\n"
             "docker run -d --name " CONTAINER " --restart on-failure:3 --log-opt max-size=50m");
    add_host(recipe, out);
    add_environment(recipe, out);
    if (first > 0)
        add_option(out, "--entrypoint", json_string_value(json_array_get(argv, 0)));
    add_word(out, recipe->image);
    for (size_t i = first; i < json_array_size(argv); i++)
        add_word(out, json_string_value(json_array_get(argv, i)));
    text_add(out, " || end 'docker run failed'\n");
}

/* Until the server answers or has ended, reports the last line of its log, and the phase "compile"
 * if that line indicates it. */
static const char watch[] =
    "\ndo\n"
    "    state=$(docker inspect -f '{{.State.Status}}' " CONTAINER ")\n"
    "    line=$(docker logs --tail 1 " CONTAINER " 2>&1 | tr -cd '[:print:]' | cut -c 1-240)\n"
    "    say \"$line\"\n"
    "    tell line \"$line\"\n"
    "    case $state in running | restarting | created) ;; *) end 'the server ended' ;; esac\n"
    "    case $line in *ompil* | *raph* | *arming* | *XLA*) phase compile ;; esac\n"
    "    sleep \"$pause\"\n"
    "done\n"
    "phase ready\n";

static void add_watch(const struct recipe *recipe, struct text *out)
{
    TEXT_AUTO url = { 0 };

    text_addf(&url, "http://127.0.0.1:%lld%s", (long long)recipe_integer(recipe, "port", 8000),
              recipe_text(recipe, "probes.startup.path", "/health"));
    text_add(out, "phase weights\nuntil curl -sf -o /dev/null");
    add_word(out, text_string(&url));
    text_add(out, watch);
}

void google_machine_script(const struct desired *desired, const struct google_machine *machine,
                           struct text *out)
{
    text_addf(out,
              "#!/bin/bash\n# Written by opsbrain for the deployment %s. It holds no secret.\n"
              "project=%s\npause=10\n",
              desired->deployment, desired->target->project);
    text_add(out, functions);
    add_image(desired->recipe, out);
    add_secrets(desired->recipe, machine, out);
    add_guard(desired->recipe, out);
    add_run(desired, out);
    add_watch(desired->recipe, out);
}
