/* SPDX-License-Identifier: Apache-2.0 */
/* A service of the fake of Google's clouds, and functions that the fake's files share. Private to
 * fake_google*.c. */
#pragma once

#include "base/json/json.h"
#include "tests/clouds/fake_google.h"

/* Answers the requests whose path contains `part`. */
struct fake_google_part {
    const char *part;
    const char *parameters;      /* parameters of the query, separated by blanks; NULL: none */
    const char *list_end, *list; /* the end of a list's path, and its member; NULL: none */
    /* Answers a GET of anything but an object or a list; returns false if it is one of these. NULL
     * if the service has only objects and lists. */
    bool (*read)(struct fake_google *fake, const struct fake_request *request,
                 struct fake_reply *reply);
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
/* Sets an int64 member, which Google sends as a string; as a number if `fake->numbers` is set. */
void fake_google_number(const struct fake_google *fake, json_t *object, const char *name,
                        long long value);
/* Answers DELETE of an object, at once. */
void fake_google_remove(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply);
/* Starts a long operation on the object at `path`, and answers with it. If the operation fails,
 * `before`, objects by path, is restored, or the object is removed if `before` is NULL. Releases
 * `before`. */
void fake_google_begin(struct fake_google *fake, const char *path, json_t *before,
                       struct fake_reply *reply);
/* Returns a copy of one object for `before`; the caller releases it. */
json_t *fake_google_before(const struct fake_google *fake, const char *path);
/* Answers DELETE of an object with a long operation, if the etag is the latest. */
void fake_google_delete(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply, bool is_dry);
void fake_google_set_policy(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply);

/* Makes the machine's key, as its script would, if its account may write it. */
void fake_google_machine_key(struct fake_google *fake, const json_t *machine);
/* Ends the instances of Compute Engine whose time is over. */
void fake_google_machine_advance(struct fake_google *fake);
/* Changes an instance to its next state: PROVISIONING, STAGING, RUNNING; STOPPING, TERMINATED or
 * gone. */
void fake_google_machine_pass(struct fake_google *fake, const char *path, json_t *instance);
/* Sets the members that the platform sets on a new instance, or after a change of labels. */
void fake_google_machine_settle(struct fake_google *fake, json_t *instance, const char *path);
void fake_google_machine_label(struct fake_google *fake, json_t *instance);
/* Returns Google's message about the rule that the instance breaks; NULL if it breaks none. */
const char *fake_google_machine_judge(const json_t *instance);
/* Returns whether the instance has more GPUs than the quota. */
bool fake_google_machine_exceeds(const struct fake_google *fake, const json_t *instance);
