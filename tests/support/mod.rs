//! What the tests of patterns share: a random generator of patterns and CPython as an oracle.
#![allow(dead_code, unreachable_pub)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;

use reglint::pattern::Python;
use serde_json::Value;

/// A small pseudo-random generator (splitmix64), so that a seed names a case for good.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// How many random cases a test runs: `REGLINT_CASES`, else `default`.
pub fn cases(default: usize) -> usize {
    std::env::var("REGLINT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The seed of a test's random cases: `REGLINT_SEED`, else always the same.
pub fn seed() -> u64 {
    std::env::var("REGLINT_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// The interpreter to ask: `REGLINT_PYTHON`, else `python3`; with its version. `None`, said on
/// stderr, if there is none or its version is not one that reglint knows.
pub fn python() -> Option<(String, Python)> {
    let name = std::env::var("REGLINT_PYTHON").unwrap_or_else(|_| "python3".into());
    let out = Command::new(&name)
        .args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        .output()
        .ok();
    let version = out.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let known = Python::ALL.into_iter().find(|v| Some(v.as_str()) == version.as_deref());
    if known.is_none() {
        eprintln!("skipped: {name} is not a CPython 3.11 to 3.14 ({version:?})");
    }
    known.map(|v| (name, v))
}

/// Runs `script` with one JSON value a line on its standard input, and returns its answers, one a
/// line as well.
pub fn ask(python: &str, script: &str, questions: Vec<Value>) -> Vec<Value> {
    let mut child = Command::new(python)
        .args(["-X", "utf8", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let count = questions.len();
    let writer = thread::spawn(move || {
        let mut text = String::new();
        for question in questions {
            text.push_str(&question.to_string());
            text.push('\n');
        }
        // A script that fails early is reported below, by the answers that are missing.
        let _ = stdin.write_all(text.as_bytes());
    });
    let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let answers: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(&line.expect("a line")).expect("an answer is JSON"))
        .collect();
    writer.join().expect("the writer ends");
    assert!(child.wait().expect("the interpreter ends").success(), "the script failed");
    assert_eq!(answers.len(), count, "one answer for each question");
    answers
}

const ATOMS: &[&str] = &[
    "a",
    "b",
    "c",
    "A",
    "k",
    "s",
    "_",
    ":",
    "::",
    "foo",
    "x1",
    "é",
    "µ",
    "→",
    "𝒳",
    " ",
    "\t",
    "\n",
    "#",
    "#c\n",
    "-",
    "&",
    "~",
    "]",
    "}",
    "{",
    "{}",
    "{a}",
    "{1",
    "{,",
    "{1,2",
    ".",
    "^",
    "$",
    "\\A",
    "\\Z",
    "\\b",
    "\\B",
    "\\d",
    "\\D",
    "\\s",
    "\\S",
    "\\w",
    "\\W",
    "\\.",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\\|",
    "\\\\",
    "\\/",
    "\\-",
    "\\ ",
    "\\#",
    "\\é",
    "\\_",
    "\\\n",
    "\\a",
    "\\f",
    "\\n",
    "\\r",
    "\\t",
    "\\v",
    "\\0",
    "\\00",
    "\\012",
    "\\08",
    "\\101",
    "\\377",
    "\\400",
    "\\1",
    "\\2",
    "\\3",
    "\\10",
    "\\12",
    "\\18",
    "\\81",
    "\\99",
    "\\x41",
    "\\x4",
    "\\xg",
    "\\u0041",
    "\\u004",
    "\\ud800",
    "\\udfff",
    "\\U0001F600",
    "\\U00110000",
    "\\U0000d812",
    "\\N{BULLET}",
    "\\N{bullet}",
    "\\N{NO SUCH}",
    "\\N{}",
    "\\N",
    "\\N{LF}",
    "\\N{LINE FEED}",
    "\\N{HANGUL SYLLABLE GA}",
    "\\N{hangul syllable ga}",
    "\\N{CJK UNIFIED IDEOGRAPH-4E00}",
    "\\N{KEYCAP DIGIT ONE}",
    "\\q",
    "\\e",
    "\\p{L}",
    "\\h",
    "\\G",
    "\\K",
    "\\Q",
    "\\E",
    "\\R",
    "\\X",
    "\\z",
    "\\u{41}",
    "\\k<n>",
    "(?P=n)",
    "(?P=m)",
    "(?P=é)",
    "(?#c)",
    "(?#c\\)",
    "(?#",
    "(?i)",
    "(?x)",
    "(?s)",
    "(?m)",
    "(?a)",
    "(?u)",
    "(?au)",
    "(?L)",
    "(?t)",
    "(?-i)",
    "(?z)",
    "(?i",
    "(?",
    "(?P",
    "(?P<",
    "(?P>n)",
    "(?<n>",
    "(?R)",
    "(?1)",
    "(?&n)",
    "(?~",
    "(?|",
    "()",
    "(?:)",
    "(?i:)",
    "(?=)",
    "(?!)",
    "(?<=)",
    "(?<!)",
    "(?>)",
    "|",
    "||",
    "(",
    ")",
    "[",
    "[]",
    "[^]",
];
const CLASS_ATOMS: &[&str] = &[
    "a",
    "b",
    "z",
    "A",
    "Z",
    "0",
    "9",
    "_",
    ":",
    "-",
    "--",
    "^",
    "[",
    "[:alpha:]",
    "&&",
    "~~",
    "||",
    "&",
    "|",
    "~",
    "]",
    "\\]",
    "\\\\",
    "\\-",
    "\\^",
    "\\d",
    "\\D",
    "\\s",
    "\\S",
    "\\w",
    "\\W",
    "\\b",
    "\\B",
    "\\A",
    "\\Z",
    "\\z",
    "\\n",
    "\\t",
    "\\x41",
    "\\x",
    "\\101",
    "\\8",
    "\\0",
    "\\400",
    "\\u00e9",
    "\\ud800",
    "\\udfff",
    "\\ue000",
    "\\ud7ff",
    "\\U0001F600",
    "é",
    "→",
    "𝒳",
    " ",
    "#",
    "a-z",
    "0-9",
    "z-a",
    "a-\\d",
    "\\d-a",
    "\\ud800-\\ue000",
    "a-\\ud900",
    "\\ud900-\\uda00",
    "\\N{BULLET}",
    "\\p{L}",
    "\\h",
    "(",
    ")",
    "*",
    ".",
];
const REPEATS: &[&str] = &[
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "*+",
    "++",
    "?+",
    "{2}",
    "{0}",
    "{1}",
    "{2,}",
    "{,2}",
    "{,}",
    "{1,3}",
    "{1,3}?",
    "{2}+",
    "{2}?",
    "{3,1}",
    "{4294967295}",
    "{4294967294}",
    "{0,4294967296}",
    "{ 1}",
    "{1, 2}",
    "**",
    "*{2}",
    "{2}{3}",
];
const OPENERS: &[&str] = &[
    "(", "(", "(?:", "(?:", "(?P<n>", "(?P<m>", "(?P<é>", "(?P<ℼ>", "(?P<1>", "(?P<a-b>", "(?=",
    "(?!", "(?<=", "(?<!", "(?<=", "(?<!", "(?>", "(?i:", "(?x:", "(?s:", "(?m:", "(?a:", "(?u:",
    "(?-i:", "(?-x:", "(?i-x:", "(?x-i:", "(?is-mx:", "(?i-i:", "(?-a:", "(?au:", "(?L:", "(?t:",
    "(?-:", "(?i-:", "(?(1)", "(?(2)", "(?(n)", "(?(0)", "(?( 1)", "(?(+1)", "(?(1_0)", "(?(01)",
    "(?(é)", "(?(12)", "(?(-1)", "(?(", "(?()",
];

fn class(rng: &mut Rng, out: &mut String) {
    out.push('[');
    if rng.one_in(4) {
        out.push('^');
    }
    for _ in 0..=rng.below(4) {
        // Ordinary parts mostly, so that most sets are valid.
        let known = if rng.one_in(3) { CLASS_ATOMS.len() } else { 9 };
        out.push_str(CLASS_ATOMS[rng.below(known)]);
        if rng.one_in(6) {
            out.push('-');
        }
    }
    if !rng.one_in(40) {
        out.push(']');
    }
}

fn branch(rng: &mut Rng, depth: usize, out: &mut String) {
    for _ in 0..rng.below(5) {
        match rng.below(10) {
            0 | 1 if depth > 0 => group(rng, depth, out),
            2 => class(rng, out),
            3 => out.push_str(ATOMS[rng.below(ATOMS.len())]),
            4 => out.push_str(rng.pick(&["\\1", "(?P=n)", "\\b", "^", "$", ".", "\\d", "\\w"])),
            _ => out.push_str(ATOMS[rng.below(20)]),
        }
        if rng.one_in(4) {
            let known = if rng.one_in(3) { REPEATS.len() } else { 18 };
            if rng.one_in(12) {
                out.push_str(rng.pick(&[" ", "(?#c)", "#c\n"]));
            }
            out.push_str(REPEATS[rng.below(known)]);
        }
    }
}

fn alternation(rng: &mut Rng, depth: usize, out: &mut String) {
    branch(rng, depth, out);
    while rng.one_in(4) {
        out.push('|');
        branch(rng, depth, out);
    }
}

fn group(rng: &mut Rng, depth: usize, out: &mut String) {
    let known = if rng.one_in(4) { OPENERS.len() } else { 20 };
    out.push_str(OPENERS[rng.below(known)]);
    alternation(rng, depth - 1, out);
    if !rng.one_in(60) {
        out.push(')');
    }
}

/// A random pattern: most of them valid, of every construct, and some broken by a random edit.
pub fn pattern(rng: &mut Rng) -> String {
    let mut out = String::new();
    if rng.one_in(5) {
        out.push_str(rng.pick(&[
            "(?i)",
            "(?x)",
            "(?x) ",
            "(?s)(?m)",
            "(?a)",
            "(?xi)",
            "(?u)(?a)",
            "(?#c)(?i)",
        ]));
    }
    alternation(rng, 4, &mut out);
    if rng.one_in(4) {
        mutate(rng, &mut out);
    }
    out
}

/// Removes, repeats or inserts a character.
pub fn mutate(rng: &mut Rng, text: &mut String) {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.below(2) {
        let at = rng.below(chars.len() + 1);
        match rng.below(3) {
            0 if at < chars.len() => {
                chars.remove(at);
            }
            1 if at < chars.len() => chars.insert(at, chars[at]),
            _ => {
                let new = [
                    '\\', '(', ')', '[', ']', '{', '}', '?', '*', '+', '|', '^', '<', ':', '0',
                    'é', '\n',
                ];
                chars.insert(at, new[rng.below(new.len())]);
            }
        }
    }
    *text = chars.into_iter().collect();
}
