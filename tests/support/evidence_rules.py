"""What the rules with evidence have to find, written apart from reglint from the rules' pages.

Reads JSON from standard input: "traces" (each a list of [stack from the outermost in, sampled, credited]), "lists"
(each a list of names) and "patterns" (canonical ones, id and pattern). Writes for each rule the hypotheses
that it is about, with the numbers that its notes have.

Functions are what the frames of the tests need: no hash, no closure at the end, no generic arguments.
"""

import json
import re
import sys

question = json.load(sys.stdin)
HASH = re.compile(r"::h[0-9a-f]{16}\Z")
CLOSURES = re.compile(r"(?:::(?:\{\{closure\}\}|_\$u7b\$\$u7b\$closure\$u7d\$\$u7d\$|\{closure#\d+\}))+\Z")


def path(frame):
    return HASH.sub("", frame)


def function(frame):
    return re.sub(r"(\$LT\$.*?\$GT\$|<[^<>]*>)", "", CLOSURES.sub("", path(frame)))


traces = []
names = {name for names in question["lists"] for name in names}
for samples in question["traces"]:
    sampled, credited = {}, {}
    for stack, time, own in samples:
        for name in set(stack):
            sampled[name] = sampled.get(name, 0) + time
            credited[name] = credited.get(name, 0) + own
    traces.append((samples, sampled, credited))
    names |= set(sampled)
hypotheses = [
    (number, name, pattern, {frame for frame in names if re.search(pattern, frame)})
    for number, (name, pattern) in enumerate(question["patterns"])
]


def largest(claimed, times):
    """The frame with the most time, of several the first by its bytes; none where none has any."""
    found = [(-times[frame], frame.encode(), frame) for frame in claimed if times.get(frame, 0) > 0]
    return min(found)[2] if found else None


several = {}
for _, name, _, claimed in hypotheses:
    functions = {function(frame) for frame in claimed}
    if len(functions) > 1:
        several[name] = len(functions)

twice = {}
for number, name, pattern, claimed in hypotheses:
    for earlier, other, before, theirs in hypotheses[:number]:
        if before == pattern:
            continue
        shared = {path(frame) for frame in claimed} & {path(frame) for frame in theirs}
        if shared:
            twice.setdefault(name, {})[other] = len({function(frame) for frame in shared})

unstable = []
for _, name, _, claimed in hypotheses:
    shown = []
    for _, _, credited in traces:
        most = max((credited.get(frame, 0) for frame in claimed), default=0)
        if most > 0:
            shown.append({function(frame) for frame in claimed if credited.get(frame, 0) == most})
    if shown and not set.intersection(*shown):
        unstable.append(name)

nested = []
sums = []
for number, (samples, sampled, _) in enumerate(traces):
    rows = [(name, largest(claimed, sampled)) for _, name, _, claimed in hypotheses]
    rows = [(name, frame) for name, frame in rows if frame is not None]
    union = sum(time for stack, time, _ in samples if any(frame in stack for _, frame in rows))
    sums.append([sum(sampled[frame] for _, frame in rows), union])
    for at, (a, a_frame) in enumerate(rows):
        for b, b_frame in rows[at + 1 :]:
            if function(a_frame) == function(b_frame):
                continue
            both = [(s, t) for s, t, _ in samples if a_frame in s and b_frame in s]
            b_inner = sum(t for s, t in both if s.index(a_frame) < s.index(b_frame))
            a_inner = sum(t for s, t in both if s.index(a_frame) > s.index(b_frame))
            if a_inner + b_inner == 0:
                continue
            if a_inner > b_inner:
                found = [a, b, number, a_inner + b_inner, b_inner, sampled[a_frame]]
            else:
                found = [b, a, number, a_inner + b_inner, a_inner, sampled[b_frame]]
            nested.append(found)

json.dump({"several": several, "twice": twice, "unstable": unstable, "nested": nested, "sums": sums}, sys.stdout)
