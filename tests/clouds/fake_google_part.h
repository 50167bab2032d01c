/* SPDX-License-Identifier: Apache-2.0 */
/* A service of the fake Google cloud, and the functions that the fake's source files share. Private
 * to fake_google*.c and fake_tpu*.c. */
#pragma once

#include "base/json/json.h"
#include "tests/clouds/fake_google.h"

/* Each service answers the requests whose path contains its `part`. If several services match, the
 * first one in fake_google.c's table answers. */
struct fake_google_part {
    const char *part;
    /* the query parameters that this service accepts, besides those that every service accepts,
     * with a space before and after each */
    const char *parameters;
    /* how the path of a list ends, and which member of the answer has the items; NULL: no list */
    const char *list_end, *list;
    /* Answers a GET request for anything but a list. If it returns false or is NULL, the object at
     * the request's path is the answer. */
    bool (*read)(struct fake_google *fake, const struct fake_request *request,
                 struct fake_reply *reply);
    /* Answers a request whose method is not GET. NULL: such requests get a 404. */
    void (*change)(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply);
};

/* Answers with an error object like Google's; `word` is its "status", such as "NOT_FOUND". */
void fake_google_say(struct fake_reply *reply, int status, const char *word, const char *message);
/* Answers with the object, without the fake's own members, whose names begin with '.'. */
void fake_google_show(struct fake_reply *reply, const json_t *object);
/* Returns whether a body conforms to the type; if not, answers with an error that names the wrong
 * member. */
bool fake_google_check(const struct fake_google *fake, const char *type, const json_t *body,
                       struct fake_reply *reply);
/* Sets an int64 member: to a string, as Google sends it, or to a number if `fake->sends_numbers` is
 * set. */
void fake_google_number(const struct fake_google *fake, json_t *object, const char *name,
                        long long value);
/* Deletes an object at once, without a long-running operation, and answers. */
void fake_google_remove(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply);
/* Starts a long-running operation on the object at `path`, and answers with the operation. If the
 * operation fails, the objects in `before`, {path: object}, are restored; if `before` is NULL, the
 * object at `path` is removed. Takes ownership of `before`. */
void fake_google_begin_take(struct fake_google *fake, const char *path, json_t *before,
                            struct fake_reply *reply);
/* Returns {path: copy of the object}, to be used as `before`; the caller owns it. */
json_t *fake_google_before(const struct fake_google *fake, const char *path);
/* Deletes an object in a long-running operation, unless the query has an etag that is not the
 * latest. `is_dry`: does the same, but does not delete the object. */
void fake_google_delete(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply, bool is_dry);
/* Checks the body of a setIamPolicy request, and answers with the policy in it, but does not store
 * the policy. */
void fake_google_set_policy(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply);

/* Stores the key of the machine's server in the machine's secret, as the machine's startup script
 * would. Does nothing if the secret has no policy, because then the script is not allowed to write
 * it. */
void fake_google_machine_key(struct fake_google *fake, const json_t *machine);
/* Stops or deletes the Compute Engine instances whose run time has ended. */
void fake_google_machine_advance(struct fake_google *fake);
/* Moves an instance to its next state. An instance that starts is PENDING (as long as the zone
 * lacks capacity), PROVISIONING, STAGING, then RUNNING. One that stops is STOPPING, then
 * TERMINATED; one that is being deleted is STOPPING, then removed. */
void fake_google_machine_pass(struct fake_google *fake, const char *path, json_t *instance);
/* Adds the members that the platform adds to a new instance. */
void fake_google_machine_settle(struct fake_google *fake, json_t *instance, const char *path);
/* Sets a new fingerprint for the instance's labels. */
void fake_google_machine_label(struct fake_google *fake, json_t *instance);
/* Returns Google's error message for the rule that the instance breaks; NULL if it breaks none. */
const char *fake_google_machine_judge(const json_t *instance);
/* Returns whether the instance has more GPUs than the quota allows. */
bool fake_google_machine_exceeds(const struct fake_google *fake, const json_t *instance);
