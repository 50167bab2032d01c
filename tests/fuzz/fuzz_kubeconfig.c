/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_kubeconfig_parse, which calls yaml_parse: no input crashes them, and an accepted file has
 * a server and a credential. */
#include <string.h>

#include "fleet/cloud/cloud_kubeconfig.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cloud_kubeconfig config;
    struct error error;

    if (size > SECRET_FILE_BYTES)
        return 0;
    if (cloud_kubeconfig_parse((const char *)data, size, &config, &error)) {
        must(config.server[0] != '\0');
        must(config.token[0] != '\0' || config.key[0] != '\0');
    }
    cloud_kubeconfig_finish(&config);
    return 0;
}
