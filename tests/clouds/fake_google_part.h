/* SPDX-License-Identifier: Apache-2.0 */
/* A service of the fake of Google's clouds, and functions that the fake's files share. Private to
 * fake_google*.c and fake_tpu*.c. */
#pragma once

#include "base/json/json.h"
#include "tests/clouds/fake_google.h"

/* Answers the requests whose path contains `part`. If that is true of several services, the first
 * in the table of fake_google.c answers. */
struct fake_google_part {
    const char *part;
    const char *parameters; /* of the query, besides those of all services, each between blanks */
    /* the end of a list's path, and the member of the answer that has the items; NULL: no list */
    const char *list_end, *list;
    /* Answers a GET, except of a list. Returns false if it does not answer, so that the object at
     * the path is the answer. NULL: it never answers. */
    bool (*read)(struct fake_google *fake, const struct fake_request *request,
                 struct fake_reply *reply);
    /* Answers a request whose method is not GET. NULL: such requests get a 404. */
    void (*change)(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply);
};

/* Answers with Google's error object; `word` is its status, such as "NOT_FOUND". */
void fake_google_say(struct fake_reply *reply, int status, const char *word, const char *message);
/* Answers with the object, without the fake's own members, which begin with '.'. */
void fake_google_show(struct fake_reply *reply, const json_t *object);
/* Returns whether a body conforms to the type; if not, the reply names the wrong member. */
bool fake_google_check(const struct fake_google *fake, const char *type, const json_t *body,
                       struct fake_reply *reply);
/* Sets an int64 member, which Google sends as a string; as a number if `fake->sends_numbers` is
 * set. */
void fake_google_number(const struct fake_google *fake, json_t *object, const char *name,
                        long long value);
/* Deletes an object, without a long operation. */
void fake_google_remove(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply);
/* Starts a long operation on the object at `path`, and answers with the operation. If it fails,
 * `before`, objects by path, is restored, or the object is removed if `before` is NULL. Releases
 * `before`. */
void fake_google_begin_take(struct fake_google *fake, const char *path, json_t *before,
                            struct fake_reply *reply);
/* Returns a copy of one object for `before`; the caller releases it. */
json_t *fake_google_before(const struct fake_google *fake, const char *path);
/* Deletes an object in a long operation, unless the query has an etag that is not the latest.
 * `is_dry`: the object stays. */
void fake_google_delete(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply, bool is_dry);
/* Checks the body of setIamPolicy, and answers with its policy, which is not stored. */
void fake_google_set_policy(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply);

/* Stores the machine's key in its secret, as the machine's script would. Does nothing if the secret
 * has no policy, because the script may not write it then. */
void fake_google_machine_key(struct fake_google *fake, const json_t *machine);
/* Ends the instances of Compute Engine whose time is over. */
void fake_google_machine_advance(struct fake_google *fake);
/* Changes an instance to its next state: PENDING, PROVISIONING, STAGING, RUNNING; STOPPING,
 * TERMINATED or gone. A PENDING instance waits while the zone lacks capacity. */
void fake_google_machine_pass(struct fake_google *fake, const char *path, json_t *instance);
/* Sets the members of a new instance that the platform sets. */
void fake_google_machine_settle(struct fake_google *fake, json_t *instance, const char *path);
/* Sets a new fingerprint of the labels. */
void fake_google_machine_label(struct fake_google *fake, json_t *instance);
/* Returns Google's message about the rule that the instance breaks; NULL if it breaks none. */
const char *fake_google_machine_judge(const json_t *instance);
/* Returns whether the instance has more GPUs than the quota. */
bool fake_google_machine_exceeds(const struct fake_google *fake, const json_t *instance);
