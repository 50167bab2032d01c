/* SPDX-License-Identifier: Apache-2.0 */
/* POST /v1/chat/completions and /v1/completions: from a JSON body to a sequence of the model. */
#pragma once

#include "tests/simserve/connection.h"

void generate_chat(struct connection *connection);
void generate_completions(struct connection *connection);
