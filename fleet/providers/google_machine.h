/* SPDX-License-Identifier: Apache-2.0 */
/* What a model server on a Google machine (an instance of Compute Engine or a node of Cloud TPU)
 * needs besides the machine: an API key, a firewall that admits its clients, and the script that
 * starts it. The machine makes the key at its first boot and writes it to a secret, from which
 * opsbrain reads it: no request in a plan contains the key. */
#pragma once

#include "fleet/providers/google.h"

#define GOOGLE_PORT "opsbrain-port" /* label: the server's port */

/* Members of struct provider that Compute Engine and Cloud TPU have in common: */
#define GOOGLE_MACHINE_VERBS                                                                       \
    (VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_START) | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_EXTEND)    \
     | VERB_BIT(VERB_DESTROY))
#define GOOGLE_MACHINE_LACKS                                                                       \
    {                                                                                              \
        [VERB_UPDATE] = "a machine is made from one recipe: deploy the new recipe beside it, and " \
                        "destroy this machine when the new one is ready",                          \
        [VERB_SCALE] = "a deployment is one machine: deploy another beside it"                     \
    }
#define GOOGLE_MACHINE_LOCK                                                                        \
    "the engine requires a key that the machine makes and keeps in Secret Manager, and a "         \
    "firewall admits only the target's source ranges to its port"
#define GOOGLE_MACHINE_KEY_LASTS_MS 60000

/* Fills in the names and URLs. `what`: the machine's full name at its platform. */
void google_machine_name(const struct desired *desired, const char *what,
                         struct google_machine *out);

/* Returns the labels of a machine: google_labels and the server's port. New reference. */
json_t *google_machine_labels(const struct desired *desired);
/* Finds the server's port in the labels or, if they have none, in the script. Returns 8000 if
 * neither has a port, or if the port is not valid. */
int google_machine_port(const json_t *labels, const char *script);
/* Sets the server's address if `address` consists of digits and dots, as an IPv4 address does. */
void google_machine_set_address(const char *address, int port, struct observed *out);

/* Adds the steps "key", "key-right" and "firewall", which precede the creation of the machine. */
void google_machine_add(const struct google_list *list);
/* Adds the steps "remove-firewall" and "remove-key", which follow the removal of the machine. */
void google_machine_add_removals(const struct google_list *list);

/* INVALID, for example, if the target names no zone or no service account, or if its source ranges
 * would open the servers to everybody. */
CHECKED bool google_machine_check_target(const struct fleet_target *target, const char *title,
                                         struct error *error);
/* Returns true if the target's machines have only an internal address. */
bool google_machine_is_inside(const struct fleet_target *target);
/* Adds a finding for each permission and API that the key, the firewall and the service account
 * need, and the findings of google_check_resources. */
CHECKED bool google_machine_check_needs(struct cloud *cloud, const struct fleet_target *target,
                                        json_t *findings, struct error *error);
/* INVALID if no Google machine can run the recipe, for example because its engine reads no API key,
 * or if the recipe's hardware cannot be bought in the wanted way (desired->kind). */
CHECKED bool google_machine_check(const struct desired *desired, const char *title,
                                  struct error *error);
/* Returns the name of the environment variable from which the recipe's engine reads its API key;
 * NULL if it reads none. Static. */
const char *google_machine_key_variable(const struct recipe *recipe);
/* Adds the warnings that apply to every machine. */
void google_machine_lint(json_t *warnings);

/* Appends the script that starts the server at every boot. The script reads secrets with the
 * machine's own account and contains none. It reports its phase (image, weights, compile, ready,
 * failed) and the last line of the server's log, or the reason for a failure, as the guest
 * attributes "phase" and "line" in the namespace GOOGLE_ATTRIBUTES. It also writes both to the
 * serial port, but Cloud TPU does not show that output for its nodes. */
#define GOOGLE_ATTRIBUTES "opsbrain/"
void google_machine_script(const struct desired *desired, const struct google_machine *machine,
                           struct text *out);

/* Reads state, phase and last line from the script's guest attributes, [{"key", "value"}]. */
void google_machine_read(const json_t *items, struct observed *out);

/* Judges a Compute Engine operation, {"name", "status", "error"}, on the step's resource. */
CHECKED enum step_state google_machine_judge(const struct step *step, const json_t *operation,
                                             char poll_url[1024], struct error *error);
/* Judges a reply whose verdict is not CLOUD_DONE. Returns STEP_RETRY if a resource is not ready
 * yet. */
CHECKED enum step_state google_machine_judge_failure(const struct step *step,
                                                     const struct cloud_reply *reply,
                                                     struct error *error);
/* Adds a request id to the step's URL: a UUID derived from the plan's id and the step's name. With
 * it, a request that is repeated after a lost reply is carried out only once. */
void google_machine_set_id(const struct desired *desired, struct step *step);

/* Reads the API key of a machine that opsbrain made; "" for any other machine. Fetches the
 * machine's labels from `observed->resource`. `what`: as for google_machine_name. */
CHECKED bool google_machine_key(struct cloud *cloud, const char *what,
                                const struct observed *observed, char out[SECRET_VALUE_SIZE],
                                struct error *error);
