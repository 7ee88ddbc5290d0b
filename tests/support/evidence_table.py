"""The table of the script that reads registers, and what it does not have, written apart from reglint.

Reads JSON from standard input: "traces" (lists of folded lines), "patterns" (the canonical ones), "tokens" and
"only_under" (a pattern or null). Writes for each pattern its times by trace with median, minimum and
maximum, and for each trace the sum of the rows and the time of the samples with at least one reported frame.
"""

import json
import re
import statistics
import sys

question = json.load(sys.stdin)
tokens = question["tokens"]
rows = [[] for _ in question["patterns"]]
sums = []
for lines in question["traces"]:
    samples = []
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        stack = stack.split(";")
        under = question["only_under"]
        if under is None or any(re.search(under, name) for name in stack):
            samples.append((stack, int(count)))
    inclusive = {}
    for stack, count in samples:
        for name in set(stack):
            inclusive[name] = inclusive.get(name, 0) + count
    shown = []
    for row, pattern in zip(rows, question["patterns"]):
        claimed = [(time, name) for name, time in inclusive.items() if re.search(pattern, name)]
        most = max((time for time, _ in claimed), default=0)
        row.append(most)
        shown.append({name for time, name in claimed if time == most and most > 0})
    # Of frames with the same time any may be the reported one: only what is the same for all is compared.
    if all(len(names) <= 1 for names in shown):
        names = [next(iter(names)) for names in shown if names]
        sums.append(
            [
                sum(inclusive[name] for name in names),
                sum(count for stack, count in samples if set(names) & set(stack)),
            ]
        )
    else:
        sums.append(None)
spreads = [[statistics.median(row) / tokens, min(row) / tokens, max(row) / tokens] for row in rows]
json.dump({"spreads": spreads, "sums": sums}, sys.stdout)
