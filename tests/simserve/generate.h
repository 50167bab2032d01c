/* SPDX-License-Identifier: Apache-2.0 */
/* Answers POST /v1/chat/completions and /v1/completions: makes a sequence of the model from the
 * JSON body. */
#pragma once

#include "tests/simserve/connection.h"

void generate_chat(struct connection *connection);
void generate_completions(struct connection *connection);
