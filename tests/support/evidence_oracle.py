"""The consumer's aggregation of a trace, and the right one, written apart from reglint.

Reads {"xml": text} or {"folded": text}, with "patterns", as JSON from standard input. Writes for each
frame its inclusive time, sampled and credited, and for each pattern the frames that `re.search` finds
it in and the one that the consumer reports.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree


def of_xml(text):
    sampled, credited = {}, {}
    frames, stacks, weights = {}, {}, {}
    for row in ElementTree.fromstring(text).iter("row"):
        weight, stack, inline = None, None, False
        for element in row:
            if element.tag == "weight":
                if "ref" in element.attrib:
                    weight = weights[element.get("ref")]
                else:
                    weight = int(element.text)
                    weights[element.get("id")] = weight
            elif element.tag in ("backtrace", "tagged-backtrace"):
                if "ref" in element.attrib:
                    stack = stacks[element.get("ref")]
                    continue
                inline = True
                stack = []
                for inner in element.iter():
                    if inner.tag == "frame":
                        if "ref" in inner.attrib:
                            name = frames[inner.get("ref")]
                        else:
                            name = frames[inner.get("id")] = inner.get("name")
                        stack.append(name)
                    elif inner is not element and inner.tag == "backtrace" and "ref" in inner.attrib:
                        inline = False
                        stack.extend(stacks[inner.get("ref")])
                for inner in element.iter():
                    if inner.tag in ("backtrace", "tagged-backtrace") and "id" in inner.attrib:
                        stacks[inner.get("id")] = stack
        for name in set(stack):
            sampled[name] = sampled.get(name, 0) + weight
            credited[name] = credited.get(name, 0) + (weight if inline else 0)
    return sampled, credited


def of_folded(text):
    sampled = {}
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        for name in set(stack.split(";")):
            sampled[name] = sampled.get(name, 0) + int(count)
    return sampled, sampled


question = json.load(sys.stdin)
sampled, credited = of_xml(question["xml"]) if "xml" in question else of_folded(question["folded"])
patterns = []
for pattern in question["patterns"]:
    claimed = [name for name in sampled if re.search(pattern, name)]
    most = max((credited[name] for name in claimed), default=0)
    patterns.append({"claimed": sorted(claimed), "reported": most})
json.dump(
    {"frames": {name: [sampled[name], credited[name]] for name in sampled}, "patterns": patterns},
    sys.stdout,
)
