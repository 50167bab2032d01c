# SPDX-License-Identifier: Apache-2.0
"""Reads a dashboard with Grafana's own data models and writes it again. If a member is then missing or
different, the models do not know it.

dashboard.py FILE: prints a line for each such member, except for those that belong to the Prometheus plugin.
"""
import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

# Members of an annotation that belong to the Prometheus plugin. Grafana's models have no members that belong to a data source.
OF_PROMETHEUS = {"titleFormat", "step", "useValueForTime"}


def differences(ours, read, path):
    if isinstance(ours, dict) and isinstance(read, dict):
        for name, value in ours.items():
            if name in read:
                yield from differences(value, read[name], f"{path}.{name}")
            elif not (path.startswith("dashboard.annotations.") and name in OF_PROMETHEUS):
                yield f"{path}.{name} is unknown to Grafana's models"
    elif isinstance(ours, list) and isinstance(read, list) and len(ours) == len(read):
        for i, (one, other) in enumerate(zip(ours, read)):
            yield from differences(one, other, f"{path}[{i}]")
    elif ours != read:
        yield f"{path} is {ours!r}, but Grafana's models turn it into {read!r}"


register_default_plugins()
with open(sys.argv[1], encoding="utf-8") as file:
    dashboard = json.load(file)
written = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))
for problem in differences(dashboard, written, "dashboard"):
    print(problem)
