/* SPDX-License-Identifier: Apache-2.0 */
/* What a model server on a machine of Google's needs beside the machine, whether it is an instance
 * of Compute Engine or a node of Cloud TPU: a key at its door, a firewall for those who may come to
 * it, and the script that starts it. The machine makes the key itself at its first boot and writes
 * it into a secret of its own, from where opsbrain reads it: it is in no request of a plan. */
#pragma once

#include "fleet/providers/google.h"

#define GOOGLE_PORT "opsbrain-port" /* label: the server's port */

/* Of the provider's row: */
#define GOOGLE_MACHINE_VERBS                                                                       \
    (VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_START) | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_EXTEND)    \
     | VERB_BIT(VERB_DESTROY))
#define GOOGLE_MACHINE_LACKS                                                                       \
    {                                                                                              \
        [VERB_UPDATE] = "a machine is made of one recipe: deploy the other beside it, and "        \
                        "destroy this one when that is ready",                                     \
        [VERB_SCALE] = "a deployment is one machine: deploy another beside it"                     \
    }
#define GOOGLE_MACHINE_LOCK                                                                        \
    "the engine asks for a key that the machine makes and keeps in Secret Manager, and a "         \
    "firewall lets only the target's source ranges come to its port"
#define GOOGLE_MACHINE_KEY_LASTS_MS 60000

struct google_machine {
    char tag[32];       /* on the machine, by which the firewall finds it; the firewall's name */
    char secret[40];    /* of the key, its name in Secret Manager */
    char firewall[512]; /* URLs */
    char key[512];
};
/* `what`: the machine's full name at its platform. */
void google_machine_name(const struct desired *desired, const char *what,
                         struct google_machine *out);

/* Labels of a machine: google_labels and the server's port. New reference. */
json_t *google_machine_labels(const struct desired *desired);
/* The server's port: of the labels, or of the script of another's machine; 8000: neither says. */
int google_machine_port(const json_t *labels, const char *script);
/* The server's address, if the machine has one. */
void google_machine_set_address(const char *address, int port, struct observed *out);
/* Of the script that starts it, in which image and arguments are: a change of either changes the
 * digest. New reference. */
json_t *google_machine_digest(const char *script);

/* "key", "key-right", "firewall": before the machine. */
void google_machine_add(const struct google_list *list, const struct google_machine *machine);
/* "remove-firewall", "remove-key": after it. */
void google_machine_add_removals(const struct google_list *list,
                                 const struct google_machine *machine);

/* INVALID: no zone or service account, or source ranges that would open the server to everybody. */
CHECKED bool google_machine_check_target(const struct fleet_target *target, const char *title,
                                         struct error *error);
/* Whether the target's machines are reached by their address in the network alone. */
bool google_machine_is_inside(const struct fleet_target *target);
/* Findings: the permissions, APIs and things that key, firewall and account need. */
CHECKED bool google_machine_check_needs(struct cloud *cloud, const struct fleet_target *target,
                                        json_t *findings, struct error *error);
/* INVALID: a recipe that no machine can run, or whose engine would have no lock. */
CHECKED bool google_machine_check(const struct desired *desired, const char *title,
                                  struct error *error);
/* The variable in which the recipe's engine takes its key; NULL: it takes none. Static. */
const char *google_machine_key_variable(const struct recipe *recipe);
void google_machine_lint(const struct desired *desired, json_t *warnings);

/* The script that starts the server at every boot. It reads secrets with the machine's own account;
 * none is in it. It writes its phase (image, weights, compile, ready, failed) and the server's last
 * line as the guest attributes "phase" and "line" of GOOGLE_ATTRIBUTES, and both to the serial
 * port, which nodes of Cloud TPU do not show. */
#define GOOGLE_ATTRIBUTES "opsbrain/"
void google_machine_script(const struct desired *desired, const struct google_machine *machine,
                           struct text *out);

/* Its guest attributes, [{"key", "value"}]: state, phase and last line. Pure. */
void google_machine_read(const json_t *items, struct observed *out);

/* An operation of Compute Engine, {"name", "status", "error"}, on the step's resource. */
CHECKED enum step_state google_machine_judge(const struct step *step, const json_t *operation,
                                             char poll_url[1024], struct error *error);
/* The same for a reply that is not 2xx: what is not ready yet is asked again. */
CHECKED enum step_state google_machine_refused(const struct step *step,
                                               const struct cloud_reply *reply,
                                               struct error *error);
/* Adds the request's id to the step's URL, by which two that are sent because a reply was lost are
 * one: a UUID of the plan and the step's name. */
void google_machine_set_id(const struct desired *desired, struct step *step);

/* The key at the door of a machine that opsbrain made, whose labels are at `observed->resource`; ""
 * for another. `what`: as of google_machine_name. */
CHECKED bool google_machine_key(struct cloud *cloud, const char *what,
                                const struct observed *observed, char out[SECRET_VALUE_SIZE],
                                struct error *error);
