"""What the peers written in Python share: the command line and pyperf's runner."""

import argparse
import sys
import time


def run(system, rows, implementations, bench):
    """Lists the rows, or measures one: `bench(runner, row, name)` passes an implementation to pyperf.

    `bench` is called in two processes. The second, pyperf's worker, measures, and checks the result first.
    """
    if "--list" in sys.argv[1:]:
        for row in rows:
            for name in implementations:
                print(f"{system}/{row}/{name}")
        return

    import pyperf

    def forward(command, options):
        command += ["--row", options.row, "--millis", str(options.millis)]
        if options.impl:
            command += ["--impl", options.impl]

    # pyperf takes its time per value when it is made, before it has read the command line.
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--millis", type=int, default=300)
    millis = own.parse_known_args()[0].millis
    values = 5
    runner = pyperf.Runner(
        processes=1, values=values, warmups=1, min_time=millis / 1000 / values, add_cmdline_args=forward
    )
    runner.argparser.add_argument("--row", required=True, choices=rows)
    runner.argparser.add_argument("--impl", choices=implementations)
    runner.argparser.add_argument("--millis", type=int, default=300, help="time to measure, in milliseconds")
    options = runner.parse_args()
    for name in [options.impl] if options.impl else implementations:
        bench(runner, options.row, name)


def measure(runner, name, function, *arguments, version):
    """Passes an operation to pyperf.

    The number of calls per measured value is determined here. pyperf would start two or more processes for that.
    """
    if not runner.args.worker:
        # The first call imports what it needs.
        function(*arguments)
        runner.args.loops = 1
        while seconds(runner.args.loops, function, arguments) < runner.args.min_time:
            runner.args.loops *= 2
    runner.bench_func(name, function, *arguments, metadata={"version": version})


def seconds(count, function, arguments):
    """The time of that many calls, in seconds."""
    start = time.perf_counter()
    for _ in range(count):
        function(*arguments)
    return time.perf_counter() - start
