/* SPDX-License-Identifier: Apache-2.0 */
/* Answers POST /v1/chat/completions and /v1/completions: reads the JSON body, and lets the
 * simulated model generate what the request asks for. */
#pragma once

#include "tests/simserve/connection.h"

void generate_chat(struct connection *connection);
void generate_completions(struct connection *connection);
