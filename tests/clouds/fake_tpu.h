/* SPDX-License-Identifier: Apache-2.0 */
/* What the source files of the fake Cloud TPU share; private to them. Each object is stored by its
 * path in version v2 of the API. */
#pragma once

#include "tests/clouds/fake_google_part.h"

#define FAKE_TPU_QUEUED "/queuedResources/"
#define FAKE_TPU_NODES "/nodes/"

/* Converts a request's path, which is of any version of the API, to the path in v2. */
void fake_tpu_path(const char *path, char out[512]);
/* Writes the path of a queued resource's node to `out`. `path`: the path of the queued resource. */
void fake_tpu_node_path(const char *path, const json_t *queued, char out[512]);
/* Answers with INVALID_ARGUMENT. */
void fake_tpu_refuse(struct fake_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
json_t *fake_tpu_specification(const json_t *queued); /* of the queued resource's node; borrowed */
const char *fake_tpu_state(const json_t *queued);
void fake_tpu_set_state(json_t *queued, const char *state);
/* Returns the seconds in a duration such as "7200s"; -1 if the text is not a duration. */
int64_t fake_tpu_duration(const char *text);
void fake_tpu_create(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply);
/* Moves a queued resource or a node to its next state, unless its state is a lasting one. */
void fake_tpu_pass(struct fake_google *fake, const char *path, json_t *object);
/* Suspends the flex-start resources whose run time has ended, and deletes their nodes. */
void fake_tpu_advance(struct fake_google *fake);
