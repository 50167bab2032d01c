/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the current context of a kubeconfig. Private to fleet/cloud. */
#pragma once

#include "base/core/error.h"
#include "fleet/cloud/cloud.h"

struct cloud_kubeconfig {
    char server[1025];             /* base URL without '/' at its end */
    char namespace[64];            /* "": the context names none */
    char user[128];                /* the user's name in the kubeconfig */
    char token[SECRET_VALUE_SIZE]; /* "": the user has a client certificate instead */
    char *authorities;             /* PEM; the server's authorities; "": those of this machine */
    char *certificate;             /* PEM; the user's client certificate; "": none */
    char *key;                     /* PEM; the key of the client certificate; "": none */
};

/* Reads YAML or JSON. INVALID if the kubeconfig needs something that is not supported, such as a
 * password, a file elsewhere on the machine, unverified TLS, or a command that prints a credential;
 * the message says what. No error repeats a secret. Even after an error, the caller frees *out
 * with cloud_kubeconfig_finish. */
CHECKED bool cloud_kubeconfig_parse(const char *bytes, size_t length, struct cloud_kubeconfig *out,
                                    struct error *error);
void cloud_kubeconfig_finish(struct cloud_kubeconfig *kubeconfig); /* wipes the secrets */
