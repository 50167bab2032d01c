/* SPDX-License-Identifier: Apache-2.0 */
/* Ollama's API as far as a model is pulled, loaded, listed and unloaded. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_ollama {
    struct fake_server *server;
    json_t *library; /* by model: what can be pulled */
    json_t *models;  /* by model: on the disk */
    json_t *loaded;  /* by model: its keep_alive */
    json_t *calls;   /* "METHOD path", in order */
    char problem[256];
};

void fake_ollama_start(struct fake_ollama *ollama, int port); /* 0: any */
void fake_ollama_stop(struct fake_ollama *ollama);
