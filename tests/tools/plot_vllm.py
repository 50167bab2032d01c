# SPDX-License-Identifier: Apache-2.0
"""Plots opsbrain's exports in vLLM's format as `vllm bench sweep plot` does. FOLDER contains the exports. PACKAGES is a
folder of Python packages, among them pandas and seaborn.

plot_vllm.py FOLDER PACKAGES
"""

import sys


def main(folder, packages):
    sys.path.append(packages)
    from vllm.benchmarks.sweep import plot

    parser = plot.FlexibleArgumentParser()
    plot.SweepPlotArgs.add_cli_args(parser)
    options = [folder, "--var-x", "max_concurrency", "--var-y", "median_ttft_ms", "--curve-by", "model_id"]
    plot.run_main(plot.SweepPlotArgs.from_cli_args(parser.parse_args(options)))


main(*sys.argv[1:])
