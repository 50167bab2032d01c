# SPDX-License-Identifier: Apache-2.0
"""Reads opsbrain's exports in aiperf's format with aiperf's own data model and with the data loader of its plots. Prints a
line for each run that the loader finds: the export, the run, and its number of users.

read_aiperf.py EXPORTS FOLDER

EXPORTS is the folder of the exports. FOLDER receives one folder for each cell of each export, just as aiperf writes one for
each run.
"""

import pathlib
import sys

from aiperf.common.models.export_models import JsonExportData
from aiperf.plot.core.data_loader import DataLoader
from aiperf.plot.core.mode_detector import ModeDetector


def unfold(export, folder):
    for i, line in enumerate(export.read_text().splitlines()):
        JsonExportData.model_validate_json(line)
        cell = folder / f"cell_{i:03d}"
        cell.mkdir(parents=True)
        (cell / "profile_export_aiperf.json").write_text(line)
        (cell / "profile_export.jsonl").touch()  # empty: an export has no records of single requests


def main(exports, root):
    loader = DataLoader()
    for export in pathlib.Path(exports).iterdir():
        folder = pathlib.Path(root) / export.name
        unfold(export, folder)
        for path in ModeDetector().find_run_directories([folder]) if folder.exists() else []:
            run = loader.load_run(path, load_per_request_data=False)
            print("run", export.name, path.name, run.metadata.concurrency, sep="\t")


main(*sys.argv[1:])
