//! `reglint.toml`: found, read and validated once.
//!
//! Uses `error`, `rules`, `pattern` and the names of formats of `evidence`. The only files it reads are configurations.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Error;
use crate::evidence;
use crate::paths;
use crate::pattern::{Consumer, Python, Versions};
use crate::rules::{self, Level, Rule};
use crate::suggest;

/// The name of the file.
pub const FILE_NAME: &str = "reglint.toml";

/// What it is described by.
pub const SCHEMA: &str = include_str!("../schema/config.schema.json");

/// Which registers there are where nothing says so.
const DEFAULT_REGISTERS: &str = "registers/*.json";

/// A configuration; the default one is that of no file.
#[derive(Debug)]
pub struct Config {
    /// The folder that its globs are relative to.
    pub root: PathBuf,
    /// Its file, from the root of the file system; `None` where nothing is configured.
    pub file: Option<PathBuf>,
    /// Which files are registers, where the command line names none; at least one glob.
    pub registers: Vec<String>,
    /// What is passed over.
    pub exclude: Exclude,
    /// The levels of rules, in the order of the file.
    pub levels: Vec<(&'static Rule, Level)>,
    /// Which files belong to which family; the first that matches counts.
    pub families: Vec<(PathGlob, String)>,
    /// Whose dialect the patterns are written in.
    pub consumer: Consumer,
    /// The file of known findings, relative to `root`.
    pub baseline: Option<String>,
    /// Where evidence lies, in the order of the file.
    pub evidence: Vec<EvidenceGlob>,
}

/// Where evidence lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceGlob {
    /// The family that it is about; `None` for every family.
    pub family: Option<String>,
    /// What to read it as; `None` for what its content looks like.
    pub format: Option<evidence::Format>,
    /// A glob, relative to the configuration's folder.
    pub glob: String,
}

impl Config {
    /// What holds without a file, for the working folder `root`.
    pub fn none(root: PathBuf) -> Self {
        Self {
            exclude: Exclude::new(root.clone()),
            root,
            file: None,
            registers: vec![DEFAULT_REGISTERS.to_owned()],
            levels: Vec::new(),
            families: Vec::new(),
            consumer: Consumer::default(),
            baseline: None,
            evidence: Vec::new(),
        }
    }

    /// The family that the configuration gives to the register at an absolute, normalised path.
    pub fn family(&self, path: &Path) -> Option<&str> {
        let path = from_root(path, &self.root);
        let matching = self.families.iter().find(|(glob, _)| glob.is_match(&*path));
        matching.map(|(_, family)| family.as_str())
    }

    /// The configuration that holds in the folder `from`, an absolute path: the first
    /// `reglint.toml` upwards from it, up to the root of the repository. Outside of a repository,
    /// only one in the folder itself.
    ///
    /// # Errors
    ///
    /// The file is there, but cannot be read or does not hold.
    pub fn discover(from: &Path) -> Result<Self, Error> {
        let repository = from.ancestors().find(|folder| folder.join(".git").exists());
        let last = repository.unwrap_or(from);
        for folder in from.ancestors() {
            let path = folder.join(FILE_NAME);
            match fs::read_to_string(&path) {
                Ok(text) => return Self::from_text(&shown(&path, from), &text, &path),
                // A link that leads nowhere is there.
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound
                        && path.symlink_metadata().is_err() => {}
                Err(source) => return Err(unreadable(&shown(&path, from), source)),
            }
            if folder == last {
                break;
            }
        }
        Ok(Self::none(from.to_path_buf()))
    }

    /// The configuration in the file that the user named, seen from the folder `from`.
    ///
    /// # Errors
    ///
    /// It cannot be read or does not hold.
    pub fn load(path: &Path, from: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| unreadable(&name, source))?;
        // `--config ../reglint.toml`: globs are held against paths without `..`.
        let path = paths::normalize(&from.join(path));
        Self::from_text(&name, &text, &path)
    }

    /// Reads `text`, shown as `name`, of the file at an absolute `path`.
    fn from_text(name: &str, text: &str, path: &Path) -> Result<Self, Error> {
        let root = path.parent().unwrap_or(path).to_path_buf();
        Reader { name, text }.read(Self { file: Some(path.to_path_buf()), ..Self::none(root) })
    }
}

fn unreadable(name: &str, source: io::Error) -> Error {
    Error::Read { path: name.to_owned(), source, hint: None }
}

/// `path` as seen from the folder `from`, for messages.
fn shown(path: &Path, from: &Path) -> String {
    path.strip_prefix(from).unwrap_or(path).display().to_string()
}

/// Reads one file's text; knows its name and places for what it has to say.
struct Reader<'t> {
    name: &'t str,
    text: &'t str,
}

type Value<'t> = Spanned<DeValue<'t>>;

impl<'t> Reader<'t> {
    fn read(&self, mut config: Config) -> Result<Config, Error> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.fault(at, error.message().to_owned(), None)
        })?;
        for (key, value) in in_file_order(table.get_ref()) {
            match key.get_ref().as_ref() {
                "registers" => {
                    let globs =
                        self.globs("registers", value, |glob| build_glob(glob).map(|_| ()))?;
                    if globs.is_empty() {
                        let message = "`registers` names no glob".to_owned();
                        return Err(self.fault(value.span().start, message, None));
                    }
                    config.registers = globs;
                }
                "exclude" => {
                    self.globs("exclude", value, |glob| config.exclude.add(glob))?;
                }
                "rules" => config.levels = self.levels(value)?,
                "families" => config.families = self.families(value)?,
                "consumer" => config.consumer = self.consumer(value)?,
                "baseline" => {
                    let path = self.string(value)?;
                    if path.is_empty() {
                        let message = "`baseline` names no file".to_owned();
                        return Err(self.fault(value.span().start, message, None));
                    }
                    config.baseline = Some(path);
                }
                "evidence" => config.evidence = self.evidence(value)?,
                unknown => {
                    const KNOWN: [&str; 7] = [
                        "registers",
                        "exclude",
                        "rules",
                        "families",
                        "consumer",
                        "baseline",
                        "evidence",
                    ];
                    return Err(self.fault(
                        key.span().start,
                        format!("unknown key `{unknown}`"),
                        Some(suggest::or_all(unknown, &KNOWN)),
                    ));
                }
            }
        }
        Ok(config)
    }

    fn fault(&self, offset: usize, message: String, hint: Option<String>) -> Error {
        let before = self.text.get(..offset).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::Invalid { place: format!("{}:{line}:{column}", self.name), message, hint }
    }

    fn wrong_type(&self, value: &Value<'_>, wanted: &str) -> Error {
        let found = value.get_ref().type_str();
        self.fault(value.span().start, format!("expected {wanted}, found {found}"), None)
    }

    fn string(&self, value: &Value<'_>) -> Result<String, Error> {
        let text = value.get_ref().as_str().ok_or_else(|| self.wrong_type(value, "a string"))?;
        Ok(text.to_owned())
    }

    /// A list of globs under `key`, each of which has to be one and to be `taken`.
    fn globs(
        &self,
        key: &str,
        value: &Value<'_>,
        mut taken: impl FnMut(&str) -> Result<(), String>,
    ) -> Result<Vec<String>, Error> {
        let list = value.get_ref().as_array();
        let list = list.ok_or_else(|| self.wrong_type(value, "a list of strings"))?;
        let glob = |value: &Value<'_>| {
            let glob = self.string(value)?;
            let result = if glob.is_empty() {
                Err(format!("a glob of `{key}` is not empty"))
            } else {
                taken(&glob)
            };
            result.map_err(|words| self.fault(value.span().start, words, None))?;
            Ok(glob)
        };
        list.iter().map(glob).collect()
    }

    fn table<'v>(&self, value: &'v Value<'t>) -> Result<&'v DeTable<'t>, Error> {
        value.get_ref().as_table().ok_or_else(|| self.wrong_type(value, "a table"))
    }

    fn levels(&self, value: &Value<'t>) -> Result<Vec<(&'static Rule, Level)>, Error> {
        let mut levels = Vec::new();
        for (name, value) in in_file_order(self.table(value)?) {
            let rule = find_rule(name.get_ref())
                .map_err(|(message, hint)| self.fault(name.span().start, message, hint))?;
            let word = self.string(value)?;
            let known = [Level::Deny, Level::Warn, Level::Allow];
            let level =
                known.into_iter().find(|level| level.as_str() == word).ok_or_else(|| {
                    let hint = suggest::or_all(&word, &known.map(Level::as_str));
                    self.fault(value.span().start, format!("unknown level `{word}`"), Some(hint))
                })?;
            levels.push((rule, level));
        }
        Ok(levels)
    }

    fn families(&self, value: &Value<'t>) -> Result<Vec<(PathGlob, String)>, Error> {
        let mut families = Vec::new();
        for (glob, family) in in_file_order(self.table(value)?) {
            let matcher = path_glob(glob.get_ref())
                .map_err(|words| self.fault(glob.span().start, words, None))?;
            let name = self.string(family)?;
            if name.is_empty() {
                let message = "the name of a family is not empty".to_owned();
                return Err(self.fault(family.span().start, message, None));
            }
            families.push((matcher, name));
        }
        Ok(families)
    }

    /// A list of globs, or a table from families to one glob or a list of them.
    fn evidence(&self, value: &Value<'t>) -> Result<Vec<EvidenceGlob>, Error> {
        let mut found = Vec::new();
        let Some(table) = value.get_ref().as_table() else {
            if value.get_ref().as_array().is_none() {
                return Err(self.wrong_type(value, "a list of globs, or a table of families"));
            }
            self.evidence_globs(None, value, &mut found)?;
            return Ok(found);
        };
        for (family, globs) in in_file_order(table) {
            let name = family.get_ref().as_ref();
            if name.is_empty() {
                let message = "a family has a name; `*` stands for all of them".to_owned();
                return Err(self.fault(family.span().start, message, None));
            }
            let name = (name != "*").then(|| name.to_owned());
            self.evidence_globs(name.as_deref(), globs, &mut found)?;
        }
        Ok(found)
    }

    fn evidence_globs(
        &self,
        family: Option<&str>,
        value: &Value<'t>,
        found: &mut Vec<EvidenceGlob>,
    ) -> Result<(), Error> {
        let one = std::slice::from_ref(value);
        let list: &[Value<'_>] = value.get_ref().as_array().map_or(one, |list| list);
        for value in list {
            let text = self.string(value)?;
            let (format, glob) = evidence::Format::split(&text);
            if glob.is_empty() {
                let message = "`evidence` names no file".to_owned();
                return Err(self.fault(value.span().start, message, None));
            }
            path_glob(glob).map_err(|words| self.fault(value.span().start, words, None))?;
            let family = family.map(str::to_owned);
            found.push(EvidenceGlob { family, format, glob: glob.to_owned() });
        }
        Ok(())
    }

    fn consumer(&self, value: &Value<'t>) -> Result<Consumer, Error> {
        const KNOWN: [(&str, Consumer); 6] = [
            ("python", Consumer::Python(Versions::ALL)),
            ("python-3.11", Consumer::Python(Versions::only(Python::V3_11))),
            ("python-3.12", Consumer::Python(Versions::only(Python::V3_12))),
            ("python-3.13", Consumer::Python(Versions::only(Python::V3_13))),
            ("python-3.14", Consumer::Python(Versions::only(Python::V3_14))),
            ("rust", Consumer::Rust),
        ];
        let word = self.string(value)?;
        let known = KNOWN.iter().find(|(name, _)| *name == word);
        known.map(|&(_, consumer)| consumer).ok_or_else(|| {
            let hint = suggest::or_all(&word, &KNOWN.map(|(name, _)| name));
            self.fault(value.span().start, format!("unknown consumer `{word}`"), Some(hint))
        })
    }
}

/// What a table has, in the order in which it is written; the table itself sorts by name.
fn in_file_order<'v, 't>(
    table: &'v DeTable<'t>,
) -> impl Iterator<Item = (&'v Spanned<Cow<'t, str>>, &'v Value<'t>)> {
    let mut list: Vec<_> = table.iter().collect();
    list.sort_by_key(|(key, _)| key.span().start);
    list.into_iter()
}

/// The rule of that name.
///
/// # Errors
///
/// What to say of it, and what was probably meant.
pub fn find_rule(name: &str) -> Result<&'static Rule, (String, Option<String>)> {
    rules::find(name).ok_or_else(|| {
        let names: Vec<&str> = rules::RULES.iter().map(|rule| rule.name).collect();
        let hint = suggest::nearest(name, names)
            .map_or_else(|| "`reglint rules` lists them".to_owned(), suggest::did_you_mean);
        (format!("unknown rule `{name}`"), Some(hint))
    })
}

/// A glob over paths relative to the configuration: `*` stays within a folder, `**` does not.
pub type PathGlob = globset::GlobMatcher;

/// Compiles a glob.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn path_glob(glob: &str) -> Result<PathGlob, String> {
    Ok(build_glob(glob)?.compile_matcher())
}

/// A glob with its `.` and `..` resolved by name, as those of paths are: `a/../r/*.json` is `r/*.json`. A `..` that
/// leads out of the folder stays, and so does one behind a part that is more than a name.
pub(crate) fn resolved(glob: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (number, part) in glob.split('/').enumerate() {
        match part {
            "." => {}
            // What stands before the first slash of an absolute one is kept.
            "" if number > 0 => {}
            ".." => match parts.last() {
                Some(&last) if !matches!(last, "" | "..") && !is_wild(last) => {
                    parts.pop();
                }
                Some(&"") if parts.len() == 1 => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a part of a glob is more than a name.
pub(crate) fn is_wild(part: &str) -> bool {
    part.contains(['*', '?', '[', '{', '}'])
}

fn build_glob(glob: &str) -> Result<globset::Glob, String> {
    GlobBuilder::new(&resolved(glob))
        .literal_separator(true)
        .build()
        .map_err(|error| format!("`{glob}` is not a glob: {}", error.kind()))
}

/// An absolute, normalised path as the globs of the configuration in the folder `root` see it.
fn from_root<'p>(path: &'p Path, root: &Path) -> Cow<'p, Path> {
    match path.strip_prefix(root) {
        Ok(inside) => Cow::Borrowed(inside),
        Err(_) => Cow::Owned(PathBuf::from(paths::from_folder(path, root))),
    }
}

/// What is passed over. A glob without a slash is held against each part of a path, one with a
/// slash against the path from the configuration's folder; what lies in a folder that matches is
/// passed over with it.
#[derive(Debug)]
pub struct Exclude {
    root: PathBuf,
    names: Vec<globset::Glob>,
    paths: Vec<globset::Glob>,
    compiled: std::sync::OnceLock<(GlobSet, GlobSet)>,
}

impl Exclude {
    fn new(root: PathBuf) -> Self {
        let compiled = std::sync::OnceLock::new();
        Self { root, names: Vec::new(), paths: Vec::new(), compiled }
    }

    /// Adds a glob.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a sentence.
    pub fn add(&mut self, glob: &str) -> Result<(), String> {
        let trimmed = glob.trim_end_matches('/');
        let built = build_glob(trimmed)?;
        if trimmed.contains('/') {
            self.paths.push(built);
        } else {
            self.names.push(built);
        }
        self.compiled = std::sync::OnceLock::new();
        Ok(())
    }

    /// Whether nothing is passed over.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Whether an absolute, normalised path is passed over.
    pub fn matches(&self, path: &Path) -> bool {
        let set = |globs: &[globset::Glob]| {
            let mut builder = GlobSetBuilder::new();
            for glob in globs {
                builder.add(glob.clone());
            }
            builder.build().unwrap_or_default()
        };
        let (names, paths) = self.compiled.get_or_init(|| (set(&self.names), set(&self.paths)));
        let relative = from_root(path, &self.root);
        relative.ancestors().filter(|part| !part.as_os_str().is_empty()).any(|part| {
            paths.is_match(part) || part.file_name().is_some_and(|name| names.is_match(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let path = Path::new("/r/reglint.toml");
        Config::from_text("reglint.toml", text, path).map_err(|error| error.to_string())
    }

    fn refused(text: &str) -> String {
        read(text).err().unwrap_or_else(|| panic!("{text} was accepted"))
    }

    #[test]
    fn reads_everything() {
        let config = read(
            "registers = ['r/*.json']\nexclude = ['old', 'r/x/*.json']\nconsumer = 'python-3.14'\n\
             [rules]\nid-style = 'deny'\n[families]\n'r/g*.json' = 'gemma'\n",
        )
        .unwrap();
        assert_eq!(config.registers, ["r/*.json"]);
        assert_eq!(config.consumer, Consumer::Python(Versions::only(Python::V3_14)));
        assert_eq!((config.levels[0].0.name, config.levels[0].1), ("id-style", Level::Deny));
        assert_eq!(config.family(Path::new("/r/r/gemma.json")), Some("gemma"));
        assert_eq!(config.family(Path::new("/r/gemma.json")), None);
        let ordered = read("[families]\n'r/g*' = 'gemma'\n'r/*' = 'any'\n'a' = 'a'").unwrap();
        assert_eq!(ordered.family(Path::new("/r/r/g.json")), Some("gemma"));
        let ordered = read("[families]\n'r/z*' = 'first'\n'r/*' = 'any'").unwrap();
        assert_eq!(ordered.family(Path::new("/r/r/z.json")), Some("first"));
        let excluded = |path: &str| config.exclude.matches(Path::new(path));
        assert!(excluded("/r/old/a.json") && excluded("/r/a/old") && excluded("/r/r/x/a.json"));
        assert!(!excluded("/r/r/x/y/a.json") && !excluded("/r/older/a.json"));
    }

    #[test]
    fn evidence_is_a_list_or_a_table_of_families() {
        let globs = |text: &str| -> Vec<(Option<String>, Option<evidence::Format>, String)> {
            let config = read(text).unwrap();
            config.evidence.into_iter().map(|it| (it.family, it.format, it.glob)).collect()
        };
        assert_eq!(
            globs("evidence = ['t/*.xml', 'names=t/n=1.txt']"),
            [
                (None, None, "t/*.xml".to_owned()),
                (None, Some(evidence::Format::Names), "t/n=1.txt".to_owned())
            ]
        );
        assert_eq!(
            globs("[evidence]\ngemma = 'g.json'\n'*' = ['a=b']"),
            [(Some("gemma".to_owned()), None, "g.json".to_owned()), (None, None, "a=b".to_owned())]
        );
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert_eq!(
            refused("\n[rule]\n"),
            "reglint.toml:2:2: unknown key `rule` (did you mean `rules`?)"
        );
        assert_eq!(
            refused("[rules]\nduplicate-ids = 'warn'"),
            "reglint.toml:2:1: unknown rule `duplicate-ids` (did you mean `duplicate-id`?)"
        );
        assert_eq!(
            refused("[rules]\nduplicate-id = 'wurn'"),
            "reglint.toml:2:16: unknown level `wurn` (did you mean `warn`?)"
        );
        assert_eq!(
            refused("consumer = 'ruby'"),
            "reglint.toml:1:12: unknown consumer `ruby` (known: `python`, `python-3.11`, \
             `python-3.12`, `python-3.13`, `python-3.14`, `rust`)"
        );
        assert_eq!(
            refused("exclude = 3"),
            "reglint.toml:1:11: expected a list of strings, found integer"
        );
        assert!(refused("registers = ['[']").starts_with("reglint.toml:1:14: `[` is not a glob"));
        assert_eq!(
            refused("registers = ['a', '']"),
            "reglint.toml:1:19: a glob of `registers` is not empty"
        );
        assert_eq!(
            refused("exclude = ['']"),
            "reglint.toml:1:12: a glob of `exclude` is not empty"
        );
        assert_eq!(
            refused("[families]\n'r/*.json' = ''"),
            "reglint.toml:2:14: the name of a family is not empty"
        );
        // Of several faults the first, whatever the names.
        assert!(refused("zzz = 1\naaa = 2").starts_with("reglint.toml:1:1: unknown key `zzz`"));
        assert!(refused("registers = 1\naaa = 2").starts_with("reglint.toml:1:13: expected"));
        assert_eq!(read("baseline = 'b.json'").unwrap().baseline.as_deref(), Some("b.json"));
        assert_eq!(refused("baseline = ''"), "reglint.toml:1:12: `baseline` names no file");
        assert_eq!(
            refused("[evidence]\ngemma = 3"),
            "reglint.toml:2:9: expected a string, found integer"
        );
        assert_eq!(
            refused("evidence = 'a'"),
            "reglint.toml:1:12: expected a list of globs, or a table of families, found string"
        );
        assert_eq!(refused("evidence = ['']"), "reglint.toml:1:13: `evidence` names no file");
        assert!(refused("evidence = ['names=[']").starts_with("reglint.toml:1:13: `[` is not a"));
        assert!(refused("registers = ").starts_with("reglint.toml:1:"));
        assert!(refused("a = 1\na = 2").starts_with("reglint.toml:2:1"));
    }

    #[test]
    fn globs_are_resolved_by_name() {
        for (glob, expected) in [
            ("r/*.json", "r/*.json"),
            ("./r/*.json", "r/*.json"),
            ("adr/../r/*.json", "r/*.json"),
            ("adr/./x/../../r/./*.json", "r/*.json"),
            ("r//x/*.json", "r/x/*.json"),
            ("../r/*.json", "../r/*.json"),
            ("adr/../../r/*.json", "../r/*.json"),
            ("*/../r/*.json", "*/../r/*.json"),
            ("{a,b/../c}/*.json", "{a,b/../c}/*.json"),
            ("{a,b}/../r.json", "{a,b}/../r.json"),
            ("/a/../../r/*.json", "/r/*.json"),
        ] {
            assert_eq!(resolved(glob), expected, "{glob}");
        }
        let config = read(
            "exclude = ['adr/../old', '../out/x']\n[families]\n'adr/../r/*.json' = 'gemma'\n\
             '../q/*.json' = 'qwen35'\n",
        )
        .unwrap();
        assert_eq!(config.family(Path::new("/r/r/a.json")), Some("gemma"));
        assert_eq!(config.family(Path::new("/q/a.json")), Some("qwen35"));
        let excluded = |path: &str| config.exclude.matches(Path::new(path));
        assert!(excluded("/r/old/a.json") && excluded("/out/x/a.json"));
        assert!(!excluded("/r/adr/a.json") && !excluded("/out/y/a.json"));
    }
}
