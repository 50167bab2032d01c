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
    /* from where a server's port can be reached */
    char source_ranges[FLEET_PLACES_MAX][FLEET_PLACE_SIZE];
    size_t source_range_count;
    char service_account[256]; /* that servers run as; "" for the provider's default */
    char bucket[128];          /* with the weights to mount; "" for none */
    char reservation[64];      /* the reservation for the kind "reserved"; "" for any that fits */
    /* how servers are reached: "cluster", "proxy" or "node_port" on Kubernetes, "external" or
     * "internal" on Google's machines; "": the platform's default */
    char door[16];
    char proxy[512]; /* for calls to the cloud; "" for none */
    struct cloud_credential credential;
};
