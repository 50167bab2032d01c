/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the fake of Cloud TPU, and private to them. Each object is kept under its
 * path in v2 of the API. */
#pragma once

#include "tests/clouds/fake_google_part.h"

#define FAKE_TPU_QUEUED "/queuedResources/"
#define FAKE_TPU_NODES "/nodes/"

/* Writes a request's path, of whichever version of the API, as the path of v2. */
void fake_tpu_path(const char *path, char out[512]);
/* Writes the path of the node of the queued resource `queued`, whose own path is `path`. */
void fake_tpu_node_path(const char *path, const json_t *queued, char out[512]);
/* Answers with INVALID_ARGUMENT. */
void fake_tpu_refuse(struct fake_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
json_t *fake_tpu_specification(const json_t *queued); /* of its node; borrowed */
const char *fake_tpu_state(const json_t *queued);
void fake_tpu_set_state(json_t *queued, const char *state);
/* Returns the seconds of a duration such as "7200s"; -1 if it is no duration. */
int64_t fake_tpu_duration(const char *text);
void fake_tpu_create(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply);
/* Changes a queued resource or a node to its next state, if it is on its way to one. */
void fake_tpu_pass(struct fake_google *fake, const char *path, json_t *object);
/* Suspends the flex-start resources whose time is over, and deletes their nodes. */
void fake_tpu_advance(struct fake_google *fake);
