/* SPDX-License-Identifier: Apache-2.0 */
/* Where deployments are allowed to run, and how they are set up there: plain data, which is kept in
 * the store and changed by admins. */
#pragma once

#include <stdint.h>

#include "fleet/cloud/cloud.h"

#define FLEET_PLACES_MAX 16
#define FLEET_PLACE_SIZE 64

struct fleet_target {
    char name[64];
    int64_t revision;
    char provider[32];  /* the name of a row in providers.c */
    char project[64];   /* Google's project id; "" on other platforms */
    char namespace[64]; /* on Kubernetes; "" on other platforms */
    /* regions or zones; the first is the default */
    char places[FLEET_PLACES_MAX][FLEET_PLACE_SIZE];
    size_t place_count;
    char network[256], subnetwork[256]; /* "": the provider's default */
    /* the IP ranges from which a server's port can be reached */
    char source_ranges[FLEET_PLACES_MAX][FLEET_PLACE_SIZE];
    size_t source_range_count;
    char service_account[256]; /* the account that servers run as; "": the provider's default */
    char bucket[128];          /* the bucket with the weights to mount; "": none */
    /* name of the reservation that the kind "reserved" uses; "": any reservation that fits */
    char reservation[64];
    /* how servers are reached: "cluster", "proxy" or "node_port" on Kubernetes, "external" or
     * "internal" on Google's machines; "": the platform's default */
    char door[16];
    char proxy[512]; /* URL of the proxy for calls to the cloud; "": none */
    struct cloud_credential credential;
};
