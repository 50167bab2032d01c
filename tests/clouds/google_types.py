# SPDX-License-Identifier: Apache-2.0
"""Reads the output of cloud_bodies, {"type": ..., "body": ...} on each line of stdin, and parses each body with Google's own
types: unknown members, wrong types and unknown enumerated values are errors."""
import collections
import json
import sys

from google.cloud import compute_v1, run_v2, secretmanager_v1, tpu_v2
from google.protobuf import json_format

packages = {"run": run_v2, "compute": compute_v1, "secretmanager": secretmanager_v1, "tpu": tpu_v2}


def read(name, body):
    package, message = name.split(".")
    kind = getattr(packages[package], message)
    json_format.Parse(body, kind.pb(kind()), ignore_unknown_fields=False)


counts = collections.Counter()
for line in sys.stdin:
    value = json.loads(line)
    try:
        read(value["type"], json.dumps(value["body"]))
    except json_format.ParseError as error:
        sys.exit(f"{value['type']}: {error}\n{line}")
    counts[value["type"]] += 1
for name in ["run.Service", "compute.Instance", "compute.Scheduling", "compute.Firewall", "secretmanager.Secret",
             "tpu.QueuedResource", "tpu.Node"]:
    assert counts[name] > 0, name
    try:
        read(name, '{"gpus": 1}')
        sys.exit(f"{name}: an unknown member was accepted")
    except json_format.ParseError:
        print(f"ok    Google's own types accept all bodies of type {name}: {counts[name]}")
