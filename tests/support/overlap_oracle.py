"""The relation of two patterns over all short frames of a small alphabet, by brute force.

Written from the definition and from CPython's own parser, without a look at the engine:

- whether a pattern claims a frame is what `re.search` says;
- every way in which a pattern can match is enumerated by walking the tree of `re._parser` in the order of backtracking, with the
  characters that the way spells out;
- a partial overlap is looked for in every frame, for every two ways.

    overlap_oracle.py pairs SEED CHECKS    prints a pool of patterns and the facts about its pairs, pool by pool
    overlap_oracle.py confirm              reads [A, B, frame, what] a line, prints true or a complaint a line
"""

import inspect
import itertools
import json
import random
import re
import sys
import warnings
from re import _constants as C
from re import _parser as P

warnings.simplefilter("ignore")
sys.setrecursionlimit(10_000)

# The parser makes one class of `a|\\W`; what is spelled out there is the literal, so it must not.
_source = inspect.getsource(P._parse_sub)
assert "if len(item) != 1:" in _source
exec(_source.replace("if len(item) != 1:", "if True:"), P.__dict__)

# --- every way to match ---------------------------------------------------------------------------


def set_size(items, flags, _memo={}):
    """How many characters a class has."""
    key = (str(items), int(flags))
    if key not in _memo:
        source = compile_items(items, flags)
        _memo[key] = sum(1 for c in range(0x110000) if not 0xD800 <= c < 0xE000 and source(chr(c)))
    return _memo[key]


def compile_items(items, flags, _memo={}):
    """A predicate for one item of the tree that reads one character, by compiling just that item."""
    key = (str(items), int(flags))
    if key not in _memo:
        state = P.State()
        state.flags = flags
        state.str = ""
        tree = P.SubPattern(state, items)
        from re import _compiler as K

        code = K._code(tree, flags)
        import _sre

        pattern = _sre.compile("x", flags, code, 0, {}, (None,))
        _memo[key] = lambda c: pattern.fullmatch(c) is not None
    return _memo[key]


class Ways:
    def __init__(self, text):
        self.tree = P.parse(text)
        self.flags = self.tree.state.flags & ~re.DEBUG
        self.hits = {}

    def one(self, item, flags, c):
        """Whether the item reads `c`, and whether it spells it out."""
        key = (id(item), int(flags), c)
        hit = self.hits.get(key)
        if hit is None:
            op, _ = item
            flags = flags & (re.I | re.M | re.S | re.A | re.U)
            reads = compile_items([item], flags)(c)
            if op is C.LITERAL:
                spelled = True
            elif op is C.ANY:
                spelled = False
            else:
                spelled = set_size([item], flags) <= 16
            hit = self.hits[key] = (reads, spelled)
        return hit

    def all(self, frame):
        """All (start, end, spelled places) of the frame."""
        found = set()
        for start in range(len(frame) + 1):
            for end, spelled, _ in self.seq(list(self.tree), 0, self.flags, frame, start, frozenset(), ()):
                found.add((start, end, spelled))
        return found

    def seq(self, items, at, flags, f, i, spelled, groups):
        if at == len(items):
            yield i, spelled, groups
            return
        for j, s, g in self.item(items[at], flags, f, i, spelled, groups):
            yield from self.seq(items, at + 1, flags, f, j, s, g)

    def item(self, item, flags, f, i, spelled, groups):
        op, av = item
        if op in (C.LITERAL, C.NOT_LITERAL, C.ANY, C.IN):
            if i < len(f):
                reads, spells = self.one(item, flags, f[i])
                if reads:
                    yield i + 1, spelled | {i} if spells else spelled, groups
        elif op is C.AT:
            if self.place(av, flags, f, i):
                yield i, spelled, groups
        elif op is C.BRANCH:
            for branch in av[1]:
                yield from self.seq(list(branch), 0, flags, f, i, spelled, groups)
        elif op is C.SUBPATTERN:
            group, add, remove, body = av
            inner = (flags | add) & ~remove
            if add & re.A:
                inner &= ~re.U
            if add & re.U:
                inner &= ~re.A
            for j, s, g in self.seq(list(body), 0, inner, f, i, spelled, groups):
                yield j, s, g if group is None else self.with_group(g, group, (i, j))
        elif op is C.ATOMIC_GROUP:
            for way in self.seq(list(av), 0, flags, f, i, spelled, groups):
                yield way
                break
        elif op in (C.ASSERT, C.ASSERT_NOT):
            direction, body = av
            start = i
            if direction < 0:
                start = i - body.getwidth()[0]
            way = None
            if start >= 0:
                way = next(self.seq(list(body), 0, flags, f, start, frozenset(), groups), None)
            if op is C.ASSERT and way is not None:
                yield i, spelled, way[2]
            if op is C.ASSERT_NOT and way is None:
                yield i, spelled, groups
        elif op is C.MAX_REPEAT:
            yield from self.greedy(av, 0, None, flags, f, i, spelled, groups)
        elif op is C.MIN_REPEAT:
            yield from self.lazy(av, 0, None, flags, f, i, spelled, groups)
        elif op is C.POSSESSIVE_REPEAT:
            low, high, body = av
            count = 0
            while high is C.MAXREPEAT or count < high:
                way = next(self.seq(list(body), 0, flags, f, i, spelled, groups), None)
                if way is None:
                    if count < low:
                        return
                    break
                count += 1
                stuck = way[0] == i
                i, spelled, groups = way
                if stuck:
                    break
            yield i, spelled, groups
        elif op is C.GROUPREF:
            span = dict(groups).get(av)
            if span is not None:
                want = f[span[0] : span[1]]
                have = f[i : i + len(want)]
                if have == want or (flags & re.I and have.lower() == want.lower()):
                    yield i + len(want), spelled, groups
        elif op is C.GROUPREF_EXISTS:
            group, yes, no = av
            branch = yes if group in dict(groups) else no
            yield from self.seq(list(branch or []), 0, flags, f, i, spelled, groups)
        elif op is C.FAILURE:
            return
        else:
            raise NotImplementedError(str(op))

    @staticmethod
    def with_group(groups, group, span):
        return tuple(sorted({**dict(groups), group: span}.items()))

    def greedy(self, av, count, last, flags, f, i, spelled, groups):
        low, high, body = av
        if count < low:
            for j, s, g in self.seq(list(body), 0, flags, f, i, spelled, groups):
                yield from self.greedy(av, count + 1, last, flags, f, j, s, g)
            return
        if (high is C.MAXREPEAT or count < high) and i != last:
            for j, s, g in self.seq(list(body), 0, flags, f, i, spelled, groups):
                yield from self.greedy(av, count + 1, i, flags, f, j, s, g)
        yield i, spelled, groups

    def lazy(self, av, count, last, flags, f, i, spelled, groups):
        low, high, body = av
        if count >= low:
            yield i, spelled, groups
            if not (high is C.MAXREPEAT or count < high) or i == last:
                return
            last = i
        for j, s, g in self.seq(list(body), 0, flags, f, i, spelled, groups):
            yield from self.lazy(av, count + 1, last, flags, f, j, s, g)

    @staticmethod
    def place(av, flags, f, i):
        if av in (C.AT_BEGINNING, C.AT_BEGINNING_STRING):
            return i == 0
        if av in (C.AT_END, C.AT_END_STRING):
            return i == len(f)
        ascii_only = flags & re.A

        def word(at):
            if not 0 <= at < len(f):
                return False
            return (f[at].isalnum() or f[at] == "_") and not (ascii_only and not f[at].isascii())

        boundary = word(i - 1) != word(i)
        return boundary if av is C.AT_BOUNDARY else not boundary


# --- the definition -------------------------------------------------------------------------------


def is_word(c):
    return c.isalnum() or c == "_"


class Frame:
    def __init__(self, f):
        self.f = f
        n = len(f)
        self.starts = [i for i in range(n) if is_word(f[i]) and (i == 0 or not is_word(f[i - 1]))]
        # For each place the end of the identifier that it lies in.
        self.ends = [next(k for k in range(i, n + 1) if k == n or not is_word(f[k])) for i in range(n)]
        # Word parts that begin right after a `_`: (start, end).
        self.parts = []
        for i in range(1, n):
            if f[i - 1] == "_":
                end = next(k for k in range(i, n + 1) if k == n or not is_word(f[k]) or f[k] == "_")
                if end - i >= 4:
                    self.parts.append((i, end))

    def partial(self, a, b):
        (a1, a2, sa), (b1, b2, sb) = a, b
        low, high = max(a1, b1), min(a2, b2)
        if low >= high:
            return False
        both = sa & sb
        shared = []
        for place in range(low, high):
            if place not in both:
                continue
            if place in self.starts:
                length = min(3, self.ends[place] - place)
            elif is_word(self.f[place]) and any(
                m1 <= place - 1 and place - 1 not in s and place in s for m1, s in ((a1, sa), (b1, sb))
            ):
                length = 3
                if self.ends[place] - place < 3:
                    continue
            else:
                continue
            if all(q in both for q in range(place, place + length)):
                shared.append(place)
        if shared and not any(
            shared[-1] < s and low <= s < high and (s in sa) != (s in sb) for s in self.starts
        ):
            return True
        if len(sa) == a2 - a1 and len(sb) == b2 - b1:
            for start, end in self.parts:
                if low <= start and end <= high and not any(end <= s < max(a2, b2) for s in self.starts):
                    return True
        return False


def partial(f, a_ways, b_ways):
    frame = Frame(f)
    return any(frame.partial(a, b) for a in a_ways for b in b_ways)


# --- random patterns ------------------------------------------------------------------------------


class Generator:
    def __init__(self, rng, letters):
        self.rng = rng
        self.letters = letters
        self.groups = 0
        # A pool in which most patterns speak of one word, so that most pairs meet.
        self.word = None
        if rng.random() < 0.35:
            self.word = "".join(rng.choice(letters) for _ in range(rng.choice([2, 3, 3, 4])))

    def pattern(self):
        while True:
            self.groups = 0
            roll = self.rng.random()
            if self.word is not None and roll < 0.75:
                text = self.around_word()
            elif roll < 0.75:
                text = self.alt(self.rng.choice([1, 2, 2, 3]))
            else:
                text = self.plain()
            if self.rng.random() < 0.07:
                text = self.rng.choice(["(?i)", "(?a)", "(?s)", "(?m)", "(?x)"]) + text
            try:
                re.compile(text)
            except (re.error, OverflowError, RecursionError):
                continue
            return text

    def plain(self):
        words = self.rng.choice([2, 3, 4, 5, 6])
        text = "".join(re.escape(self.rng.choice(self.letters)) for _ in range(words))
        roll = self.rng.random()
        if roll < 0.25:
            text += "(?!%s)" % re.escape(self.rng.choice(self.letters))
        elif roll < 0.4:
            at = self.rng.randrange(len(text) + 1)
            if at == 0 or text[at - 1] != "\\":
                text = text[:at] + self.rng.choice([".*", ".", r"\w*", "[^:]"]) + text[at:]
        return text

    def around_word(self):
        """The word, with a condition that often only a longer frame meets, and something after it."""
        word = re.escape(self.word)
        if self.rng.random() < 0.3:
            at = self.rng.randrange(len(self.word) + 1)
            middle = self.rng.choice([".*", ".+", r"\w*", "[^_]*?", self.literal() + "?", "(?=%s)" % self.leaf()])
            word = re.escape(self.word[:at]) + middle + re.escape(self.word[at:])
        some = self.rng.choice([self.literal, self.leaf])
        body = "".join(some() for _ in range(self.rng.choice([1, 1, 2])))
        after = self.rng.choice(
            ["", "", "(?!%s)", "(?!%s)", "(?=%s)", "(?!.*%s)", "(?=.*%s)", "(?!%s$)", "(?!(?:%s)+$)", r"(?!%s\b)", "(?>%s)?", "(?:%s)?+"]
        )
        if "%s" in after:
            after = after % body
        tail = self.rng.choice(["", "", "", self.leaf(), self.literal(), self.leaf() + self.leaf(), ".*" + self.literal(), "$", r"\b"])
        before = self.rng.choice(["", "", "", "", "^", r"\b", self.literal(), self.behind(), self.literal() + ".*"])
        return before + word + after + tail

    def behind(self):
        width = self.rng.choice([0, 1, 1, 2, 2, 3])
        some = [self.fixed(width, 2) for _ in range(self.rng.choice([1, 1, 2]))]
        return "(?<%s%s)" % (self.rng.choice("=!"), "|".join(some))

    def fixed(self, width, depth):
        """A part of a lookbehind: any construct, of so many characters."""
        parts = []
        while width > 0:
            take = self.rng.randint(1, width)
            if take > 1 and self.rng.random() < 0.4:
                parts.append(self.leaf() + "{%d}%s" % (take, self.rng.choice(["", "", "?", "+"])))
            elif depth and self.rng.random() < 0.25:
                opening = self.rng.choice(["(?:", "(?:", "(?>", "(?i:"])
                parts.append("%s%s|%s)" % (opening, self.fixed(take, depth - 1), self.fixed(take, depth - 1)))
            else:
                parts += [self.leaf() for _ in range(take)]
            width -= take
        if self.rng.random() < 0.3:
            inner = self.rng.choice(["^", "$", r"\b", r"\B", "look", "look"])
            if inner == "look":
                if depth and self.rng.random() < 0.5:
                    inner = "(?<%s%s)" % (self.rng.choice("=!"), self.fixed(self.rng.choice([1, 2]), depth - 1))
                else:
                    inner = "(?%s%s)" % (self.rng.choice("=!"), self.alt(min(depth, 1)))
            parts.insert(self.rng.randrange(len(parts) + 1), inner)
        return "".join(parts)

    def alt(self, depth):
        count = self.rng.choice([1, 1, 1, 2, 2, 3]) if depth else 1
        return "|".join(self.cat(depth) for _ in range(count))

    def cat(self, depth):
        return "".join(self.piece(depth) for _ in range(self.rng.choice([0, 1, 2, 2, 3, 3, 4])))

    def literal(self):
        return re.escape(self.rng.choice(self.letters))

    def leaf(self):
        roll = self.rng.random()
        if roll < 0.62:
            return self.literal()
        if roll < 0.70:
            return "."
        if roll < 0.80:
            some = "".join(sorted(set(self.rng.choice(self.letters) for _ in range(2))))
            return "[%s%s]" % (self.rng.choice(["", "", "^"]), re.escape(some))
        if roll < 0.95:
            return self.rng.choice([r"\w", r"\W", r"\d", r"\s", r"[\w:]", r"\S", "[a-z]", "[^_]"])
        # On both sides of the sixteen characters up to which a class is spelled out.
        return self.rng.choice(["[a-p]", "[a-q]", "(?i:[a-h])", "(?i:[a-i])", "(?i:[k-r])", r"(?a:\d)", "[_a-o]", "(?i:[^b])"])

    def piece(self, depth):
        roll = self.rng.random()
        if depth == 0 or roll < 0.55:
            text = self.leaf()
            if self.rng.random() < 0.25:
                text += self.repeat()
            return text
        body = self.alt(depth - 1)
        if roll < 0.62:
            return "(?=%s)" % body
        if roll < 0.69:
            return "(?!%s)" % body
        if roll < 0.74:
            return self.behind()
        if roll < 0.80:
            return self.rng.choice(["^", "$", r"\b", r"\B", r"\A", r"\Z"])
        if roll < 0.84:
            return "(?>%s)" % body + self.rng.choice(["", "", self.repeat()])
        if roll < 0.86 and self.groups:
            return r"\%d" % self.rng.randint(1, self.groups)
        if roll < 0.87 and self.groups:
            return "(?(%d)%s|%s)" % (self.rng.randint(1, self.groups), self.literal(), self.literal())
        if roll < 0.90:
            return "(?%s:%s)" % (self.rng.choice(["i", "a", "s", "-i"]), body)
        if roll < 0.94:
            self.groups += 1
            return "(%s)" % body + self.rng.choice(["", "", self.repeat()])
        return "(?:%s)" % body + self.repeat()

    def repeat(self):
        some = self.rng.choice(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}"])
        return some + self.rng.choice(["", "", "", "?", "+"])


SETTINGS = [("ab_:", 5), ("a_:", 6), ("ab", 8), ("a_", 9), ("aA_", 6), ("ab:", 6), ("a1_ ", 5), ("aé:", 6), ("kK\u212a_", 5), ("sS\u017f_", 5), ("iI\u0130\u0131", 5), ("aq_p", 5), ("ab_", 7)]

# Pairs in which only a longer frame shows it, among others that went wrong once.
FIXED = [
    ("a_", 9, ["aaaa(?!_a)", "aaaa_a?_", "_aaaa", "aaaa_", "a(?!_a)", "a_[a_]a", "a.*aaa", r"\w+aa"]),
    ("ab_:", 6, ["a(?!_a)", "a_[ab]b", "a.*bab", "_bab", "a::b", "b::a", "aba::", "::aba", r"\w+_ab", "(?=.*ab)b", ".*ab_"]),
]


def pools(seed, checks):
    rng = random.Random(seed)
    done = 0
    fixed = list(FIXED)
    while done < checks:
        size = min(48, max(6, int((2 * (checks - done) / 3) ** 0.5) + 2))
        if fixed:
            letters, longest, patterns = fixed.pop()
        else:
            letters, longest = rng.choice(SETTINGS)
            generator = Generator(rng, letters)
            patterns = list(dict.fromkeys(generator.pattern() for _ in range(size)))
        frames = ["".join(t) for n in range(1, longest + 1) for t in itertools.product(letters, repeat=n)]
        claims, ways = [], []
        for pattern in patterns:
            compiled, walker = re.compile(pattern), Ways(pattern)
            claimed, found = set(), {}
            for at, f in enumerate(frames):
                if compiled.search(f):
                    claimed.add(at)
                    some = [w for w in walker.all(f) if w[2]]
                    if some:
                        found[at] = some
            claims.append(claimed)
            ways.append(found)
        memo = {}
        pairs = []
        for i, j in itertools.combinations(range(len(patterns)), 2):
            only_a = min(claims[i] - claims[j], default=None)
            only_b = min(claims[j] - claims[i], default=None)
            common = None
            if only_a is not None and only_b is not None:
                for at in sorted(ways[i].keys() & ways[j].keys()):
                    frame = memo.get(at) or memo.setdefault(at, Frame(frames[at]))
                    if any(frame.partial(a, b) for a in ways[i][at] for b in ways[j][at]):
                        common = at
                        break
            both = min(claims[i] & claims[j], default=None)
            name = lambda at: None if at is None else frames[at]
            pairs.append([i, j, name(only_a), name(only_b), name(common), name(both)])
            done += 3
        print(json.dumps({"patterns": patterns, "letters": letters, "longest": longest, "pairs": pairs}), flush=True)


def confirm(a, b, frame, what):
    in_a, in_b = re.search(a, frame) is not None, re.search(b, frame) is not None
    if what == "only a":
        return in_a and not in_b
    if not (in_a and in_b):
        return False
    if what == "both":
        return True
    return partial(frame, Ways(a).all(frame), Ways(b).all(frame))


def main():
    if sys.argv[1] == "pairs":
        pools(int(sys.argv[2]), int(sys.argv[3]))
    else:
        for line in sys.stdin:
            print(json.dumps(confirm(*json.loads(line))), flush=True)


main()
