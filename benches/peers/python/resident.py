"""Answers the requests of the suites: one line on standard input, one on standard output, see benches/README.md."""

import sys
import time


def serve(set_up):
    """Answers requests until the end of input.

    `set_up(row, implementation)` returns a function that does the operation once and returns its check value, or `None`
    if there is no such row. It is called once for each.
    """
    answers, sys.stdout = sys.stdout, sys.stderr
    ready = {}
    for line in sys.stdin:
        try:
            request, row, name, count = line.rstrip("\n").split("\t")
            key = row, name
            if key not in ready:
                ready[key] = set_up(row, name)
            # Python does not count allocations.
            operation = ready[key] if request == "run" else None
            answer = operation and run(operation, int(count)) or "none"
        except Exception as error:
            answer = f"error\t{type(error).__name__}: {' '.join(str(error).split())}"
        print(answer, file=answers, flush=True)


def run(operation, count):
    check = 0
    start = time.perf_counter_ns()
    for _ in range(count):
        check = operation()
    return f"ok\t{time.perf_counter_ns() - start}\t{check}"


def expect(is_right, message):
    """Fails unless a result is right."""
    if not is_right:
        raise ValueError(message)
