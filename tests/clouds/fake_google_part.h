/* SPDX-License-Identifier: Apache-2.0 */
/* A service of the fake of Google's clouds, and functions that the fake's files share. Private to
 * fake_google*.c. */
#pragma once

#include "base/json/json.h"
#include "tests/clouds/fake_google.h"

/* Which requests it answers: those whose path contains `part`. */
struct fake_google_part {
    const char *part;
    const char *parameters;      /* parameters of the query, separated by blanks; NULL: none */
    const char *list_end, *list; /* the end of a list's path, and its member; NULL: none */
    /* Answers a GET of anything but an object or a list; false: it is one of these. NULL: it always
     * is. */
    bool (*read)(struct fake_google *fake, const struct fake_request *request,
                 struct fake_reply *reply);
    void (*change)(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply);
};

void fake_google_say(struct fake_reply *reply, int status, const char *word, const char *message);
/* A copy without the fake's own members, which begin with '.'. */
void fake_google_show(struct fake_reply *reply, const json_t *object);
/* Whether a body conforms to the type; if not, the reply names the wrong member. */
bool fake_google_check(const struct fake_google *fake, const char *type, const json_t *body,
                       struct fake_reply *reply);
/* An int64 as a string. */
void fake_google_number(const struct fake_google *fake, json_t *object, const char *name,
                        long long value);
/* DELETE of an object, done at once. */
void fake_google_remove(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply);
/* Starts a long operation on the object at `path`, and shows it. `before`: the objects by path, to
 * be restored if it fails; taken over. NULL: the object is new, and is removed then. */
void fake_google_begin(struct fake_google *fake, const char *path, json_t *before,
                       struct fake_reply *reply);
json_t *fake_google_before(const struct fake_google *fake, const char *path); /* of one object */
/* DELETE of an object, as a long operation, if the etag is the latest. */
void fake_google_delete(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply, bool is_dry);
void fake_google_set_policy(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply);

/* Does what a machine's script does: makes the key, if its account may write it. */
void fake_google_machine_key(struct fake_google *fake, const json_t *machine);
/* Ends the instances of Compute Engine whose time is over. */
void fake_google_machine_advance(struct fake_google *fake);
/* Changes it to its next state: PROVISIONING, STAGING, RUNNING; STOPPING, TERMINATED or gone. */
void fake_google_machine_pass(struct fake_google *fake, const char *path, json_t *instance);
/* Sets the members that the platform sets on a new instance, or after a change of labels. */
void fake_google_machine_settle(struct fake_google *fake, json_t *instance, const char *path);
void fake_google_machine_label(struct fake_google *fake, json_t *instance);
/* The sentence about the rule that it breaks; NULL: it breaks none. */
const char *fake_google_machine_judge(const json_t *instance);
bool fake_google_machine_exceeds(const struct fake_google *fake, const json_t *instance);
