# SPDX-License-Identifier: Apache-2.0
"""Reads services of Cloud Run, a JSON object on each line of stdin, with Google's own types: unknown members, wrong types and
wrong enums are errors."""
import sys

from google.cloud.run_v2.types import Service
from google.protobuf import json_format

count = 0
for line in sys.stdin:
    if line.strip():
        json_format.Parse(line, Service.pb(Service()), ignore_unknown_fields=False)
        count += 1
assert count > 0
wrong = '{"template": {"containers": [{"image": "x", "gpus": 1}]}}'
try:
    json_format.Parse(wrong, Service.pb(Service()), ignore_unknown_fields=False)
    sys.exit("an unknown member was accepted")
except json_format.ParseError:
    print(f"ok    Google's own types read {count} services of Cloud Run")
