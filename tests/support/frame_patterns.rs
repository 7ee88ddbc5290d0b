//! Patterns of the kind that authors write, for tests and benches of the index.

/// A small generator (splitmix64), so that a seed names a list for good.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number less than `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const WORDS: &[&str] = &[
    "alloc", "attn", "batch", "bind", "block", "buffer", "build", "cache", "cast", "chunk",
    "clear", "collect", "command", "compute", "config", "copy", "count", "decode", "dense",
    "device", "dispatch", "drain", "embed", "encode", "expert", "extend", "fetch", "fill", "flush",
    "forward", "fused", "gather", "graph", "group", "handle", "hash", "head", "index", "init",
    "inner", "insert", "kernel", "key", "layer", "lock", "lookup", "map", "mask", "matmul",
    "merge", "metal", "moe", "mul", "next", "norm", "output", "pack", "parse", "plan", "poll",
    "pool", "prefill", "project", "push", "quant", "queue", "read", "reduce", "reset", "rope",
    "route", "run", "sample", "scan", "score", "select", "session", "shard", "slice", "softmax",
    "sort", "split", "stack", "state", "stream", "submit", "swap", "sync", "tensor", "tile",
    "token", "topk", "update", "upload", "value", "view", "wait", "weight", "write", "zero",
];

const ENDS: &[&str] =
    &["f32", "f16", "q4", "q8", "kv", "hb", "seq", "v2", "gpu", "cpu", "x4", "async"];

const SYLLABLES: &[&str] = &[
    "ra", "den", "mi", "tor", "lex", "pa", "sen", "qui", "vo", "nal", "ter", "bo", "cus", "fi",
    "gen", "hy", "jo", "kre", "lum", "mo", "nex", "or", "pli", "rus", "sta", "tri", "ul", "ver",
    "wex", "zo",
];

/// The vocabulary: it grows with the square root of the text, as that of real programs does (Heaps'
/// law).
fn vocabulary(count: usize, rng: &mut Rng) -> Vec<String> {
    let mut words: Vec<String> = WORDS.iter().map(|&word| word.to_owned()).collect();
    for _ in 0..10 * count.isqrt() {
        words.push((0..2 + rng.below(2)).map(|_| SYLLABLES[rng.below(SYLLABLES.len())]).collect());
    }
    words
}

fn name(rng: &mut Rng, words: &[String], least: usize) -> String {
    let mut parts: Vec<&str> =
        (0..least + rng.below(2)).map(|_| words[rng.below(words.len())].as_str()).collect();
    if rng.below(3) == 0 {
        parts.push(ENDS[rng.below(ENDS.len())]);
    }
    parts.join("_")
}

fn path(rng: &mut Rng, words: &[String], modules: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..rng.below(3) {
        text.push_str(&modules[rng.below(modules.len())]);
        text.push_str("::");
    }
    text.push_str(&name(rng, words, 2));
    text
}

/// `count` patterns `(module::)*function`: 10 % alternations, 5 % with a lookahead, 5 % with `.*`,
/// 3 % near-duplicates of one before. There are as many modules as the square root of `count`, and
/// two or three words in a function's name.
pub(crate) fn frame_patterns(count: usize, seed: u64) -> Vec<String> {
    let mut rng = Rng(seed);
    let words = vocabulary(count, &mut rng);
    let modules: Vec<String> = (0..8 + count.isqrt()).map(|_| name(&mut rng, &words, 1)).collect();
    let mut all: Vec<String> = Vec::with_capacity(count);
    while all.len() < count {
        let roll = rng.below(100);
        let pattern = match roll {
            0..10 => {
                let branches: Vec<String> =
                    (0..2 + rng.below(2)).map(|_| path(&mut rng, &words, &modules)).collect();
                branches.join("|")
            }
            10..15 => {
                format!("{}(?!_{})", path(&mut rng, &words, &modules), ENDS[rng.below(ENDS.len())])
            }
            15..20 => {
                let module = modules[rng.below(modules.len())].clone();
                format!("{module}::.*{}", name(&mut rng, &words, 2))
            }
            20..23 if !all.is_empty() => {
                let old = all[rng.below(all.len())].clone();
                match rng.below(4) {
                    0 => old,
                    1 => format!("{old}::"),
                    2 => format!("{old}_{}", ENDS[rng.below(ENDS.len())]),
                    _ => format!("{}::{old}", modules[rng.below(modules.len())]),
                }
            }
            _ => path(&mut rng, &words, &modules),
        };
        all.push(pattern);
    }
    all
}
