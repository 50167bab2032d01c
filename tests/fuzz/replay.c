/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz program on each file of its corpus and on prefixes of the file, without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_LIMIT 65536
#define PREFIXES 500 /* at most this many prefixes of each file, evenly spread */

/* Copies the bytes into memory of exactly their size, so that a sanitizer detects reading beyond
 * it. */
static void run_exact(const char *bytes, size_t length)
{
    FREE_AUTO uint8_t *exact = memory_zeroed(length, 1);

    memcpy(exact, bytes, length);
    LLVMFuzzerTestOneInput(exact, length);
}

static void replay_file(const char *folder, const char *name)
{
    static char bytes[INPUT_LIMIT];
    char path[4096];
    size_t length;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    must(file != NULL);
    length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run_exact(bytes, length);
    for (size_t prefix = 0; prefix < length; prefix += 1 + length / PREFIXES)
        run_exact(bytes, prefix);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int files = 0;

    if (folder == NULL) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        replay_file(argv[1], entry->d_name);
        files++;
    }
    closedir(folder);
    printf("%d inputs\n", files);
    return files > 0 ? 0 : 1;
}
