//! The command line: its types, and the one rewriting that lets options stand anywhere.
//!
//! Uses `output` and `evidence` for the names of formats, `rules` for those of rules, and `input`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::evidence;
use crate::input::evidence::Named;
use crate::output::Format;
use crate::rules::Level;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Exit status: 0 no finding at error level, 1 at least one, 2 reglint could not do its work.

Examples:
  reglint registers/*.json             check registers
  reglint                              check the configured ones (registers/*.json)
  reglint -D warnings registers        warnings fail too, as a gate wants it
  reglint --format json -  < new.json  for programs, from standard input
  reglint explain invalid-pattern      what a finding means and what to do";

/// Validates and lints hypothesis registers: schema, patterns as Python's `re` reads them, one
/// canonical frame per hypothesis.
#[derive(Debug, Parser)]
#[command(
    name = "reglint",
    version,
    styles = STYLES,
    after_help = AFTER_HELP,
    subcommand_required = true,
    override_usage = "reglint [check] [OPTIONS] [PATH]...\n       reglint <COMMAND> [OPTIONS]"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check registers (what `reglint PATH…` does)
    #[command(after_help = AFTER_HELP)]
    Check(Check),
    /// Say how two patterns lie to each other, with a frame that both claim
    Overlap {
        /// Two patterns, A and B
        #[arg(value_names = ["A", "B"], num_args = 2, required_unless_present = "batch")]
        patterns: Vec<String>,
        /// Answer about many pairs: a file, or `-`, with a JSON array of two patterns a line
        #[arg(long, value_name = "FILE", conflicts_with = "patterns")]
        batch: Option<PathBuf>,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Say which patterns claim a frame, and where in it they match
    Claims {
        /// The frame, as the profiler prints it
        frame: String,
        /// Files, folders, or `-` for standard input; without one, the configured registers
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Say what the patterns measure in real traces, and how much of it is counted twice
    Evidence {
        /// Files, folders, or `-` for standard input; without one, the configured registers
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Show times for each of so many tokens, the number that each trace decodes
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
        tokens: Option<u64>,
        /// Count only the samples whose stack has a frame that this pattern claims
        #[arg(long, value_name = "REGEX", allow_hyphen_values = true, conflicts_with = "snapshot")]
        only_under: Option<String>,
        /// Write the evidence, as far as these registers need it, into a small file to be committed
        #[arg(long, value_name = "FILE")]
        snapshot: Option<PathBuf>,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Show a rule's page, or all rules
    Explain {
        /// The rule's name
        rule: Option<String>,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// List the rules
    Rules {
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Print a JSON Schema
    Schema {
        /// Of what
        #[arg(default_value = "register")]
        of: SchemaName,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Print a shell's completions
    #[command(hide = true)]
    GenerateShellCompletion {
        /// The shell
        shell: clap_complete::Shell,
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
    /// Print the man page
    #[command(hide = true)]
    GenerateManPage {
        /// Options of every command.
        #[command(flatten)]
        options: Options,
    },
}

/// The schemas that the program carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// A register
    Register,
    /// reglint.toml
    Config,
    /// The report of `--format json`
    Report,
    /// The answer of `reglint evidence --format json`
    Evidence,
}

/// `reglint check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Files, folders, or `-` for standard input; without one, the configured registers
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    /// Options of every command.
    pub options: Options,
}

/// The options, the same in every place of the command line.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of the command line.
pub struct Options {
    /// How to show findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub format: Format,

    /// Write a report into FILE too, in this format; may be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = output_file, conflicts_with = "diff")]
    pub output: Vec<(Format, PathBuf)>,

    /// When to colour the text
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorChoice,

    /// Print findings only, no summary
    #[arg(long, short)]
    pub quiet: bool,

    /// Exit with 0 whatever is found
    #[arg(long)]
    pub exit_zero: bool,

    /// Apply the safe fixes, and report what is left
    #[arg(long, help_heading = "Fixes")]
    pub fix: bool,

    /// Take the unsafe fixes for `--fix` and `--diff` too
    #[arg(long, help_heading = "Fixes")]
    pub unsafe_fixes: bool,

    /// Show as a diff what `--fix` would change, write nothing; exit with 1 if there is anything
    #[arg(long, help_heading = "Fixes")]
    pub diff: bool,

    /// Make a rule's findings errors; `warnings` stands for all warnings
    #[arg(long, short = 'D', value_name = "RULE", help_heading = "Rules")]
    deny: Vec<String>,

    /// Make a rule's findings warnings
    #[arg(long, short = 'W', value_name = "RULE", help_heading = "Rules")]
    warn: Vec<String>,

    /// Switch a rule off
    #[arg(long, short = 'A', value_name = "RULE", help_heading = "Rules")]
    allow: Vec<String>,

    /// Run this rule only; may be repeated
    #[arg(long, value_name = "RULE", help_heading = "Rules")]
    pub select: Vec<String>,

    /// Use this configuration instead of the reglint.toml that is found
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Input")]
    pub config: Option<PathBuf>,

    /// Use no configuration
    #[arg(long, help_heading = "Input")]
    pub isolated: bool,

    /// Pass over what matches, besides the configuration's `exclude`; may be repeated
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub exclude: Vec<String>,

    /// Apply exclusions to paths that are named too
    #[arg(long, help_heading = "Input")]
    pub force_exclude: bool,

    /// Validate against this JSON Schema instead of the register's own
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub schema: Option<PathBuf>,

    /// The path that standard input stands for
    #[arg(long, value_name = "PATH", help_heading = "Input")]
    pub stdin_filename: Option<PathBuf>,

    /// Hold the patterns against real frames, in the place of the configured ones: a trace, a binary, a
    /// list of names or a snapshot; may be repeated
    #[arg(
        long,
        value_name = "[FORMAT=]PATH",
        value_parser = OsStringValueParser::new().map(evidence),
        help_heading = "Evidence"
    )]
    pub evidence: Vec<Named>,

    /// Do not report the findings that this file knows
    #[arg(long, value_name = "FILE", help_heading = "Known findings")]
    pub baseline: Option<PathBuf>,

    /// Write all findings into the baseline, and take out of it what no longer occurs
    #[arg(long, help_heading = "Known findings")]
    pub write_baseline: bool,

    /// `-D`, `-W` and `-A` in the order in which they were given; filled in by [`parse`].
    #[arg(skip)]
    pub levels: Vec<(Level, String)>,
}

/// Reads `FORMAT=FILE`.
fn output_file(text: &str) -> Result<(Format, PathBuf), String> {
    let names = || Format::ALL.map(Format::as_str).join(", ");
    let (name, file) = text.split_once('=').ok_or("it has the form FORMAT=FILE")?;
    let format = Format::ALL.into_iter().find(|format| format.as_str() == name);
    let format = format.ok_or_else(|| format!("`{name}` is no format; formats: {}", names()))?;
    match file {
        "" => return Err("it names no file".to_owned()),
        // A file of that name is nobody's wish, and standard output has its report already.
        "-" => {
            return Err(format!(
                "`-` is no file; `--format {name}` chooses what standard output gets"
            ));
        }
        _ => {}
    }
    Ok((format, file.into()))
}

/// Reads `FORMAT=PATH` or `PATH`.
fn evidence(text: OsString) -> Named {
    match text.to_str().map(evidence::Format::split) {
        Some((format @ Some(_), path)) => Named { format, path: path.into() },
        _ => Named { format: None, path: text.into() },
    }
}

/// When to colour the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// At a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()).help(match self {
            Self::Text => "Excerpts with labels under them, for people",
            Self::Concise => "One line a finding, `path:line:column` first",
            Self::Json => "One object, for programs",
            Self::Sarif => "SARIF 2.1.0, for code scanning",
            Self::Github => "Workflow commands, which GitHub shows beside the code",
        }))
    }
}

impl Command {
    fn options_mut(&mut self) -> &mut Options {
        match self {
            Self::Check(check) => &mut check.options,
            Self::Overlap { options, .. }
            | Self::Claims { options, .. }
            | Self::Evidence { options, .. }
            | Self::Explain { options, .. }
            | Self::Rules { options }
            | Self::Schema { options, .. }
            | Self::GenerateShellCompletion { options, .. }
            | Self::GenerateManPage { options } => options,
        }
    }
}

/// Parses a command line, the program's name first.
///
/// # Errors
///
/// What clap says of it, `--help` and `--version` included.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let command = Cli::command();
    let arguments = command_first(&command, arguments.into_iter().collect());
    let matches = command.try_get_matches_from(arguments)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    if let Some((_, matches)) = matches.subcommand() {
        let mut levels = Vec::new();
        for (name, level) in [("deny", Level::Deny), ("warn", Level::Warn), ("allow", Level::Allow)]
        {
            let places = matches.indices_of(name).into_iter().flatten();
            let rules = matches.get_many::<String>(name).into_iter().flatten();
            levels.extend(places.zip(rules).map(|(place, rule)| (place, level, rule.clone())));
        }
        levels.sort_unstable_by_key(|&(place, ..)| place);
        cli.command.options_mut().levels =
            levels.into_iter().map(|(_, level, rule)| (level, rule)).collect();
    }
    Ok(cli)
}

/// The command line with its subcommand in front of everything else, `check` where it has none.
///
/// Options may then stand before or after it without being declared twice, and repeated ones keep
/// their order. The first word that is neither an option nor an option's value is the subcommand,
/// or a path.
fn command_first(command: &clap::Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.is_empty() {
        arguments.push("reglint".into());
    }
    let takes_value = |option: &str| {
        command.get_subcommands().flat_map(clap::Command::get_arguments).any(|argument| {
            let named = argument.get_long().is_some_and(|long| option == format!("--{long}"))
                || argument.get_short().is_some_and(|short| option == format!("-{short}"));
            named && argument.get_action().takes_values()
        })
    };
    let mut at = 1;
    let mut found = None;
    while let Some(word) = arguments.get(at) {
        match word.to_str() {
            Some("--") => break,
            // Help and version of the program itself, when no subcommand stands before them.
            Some("--help" | "-h" | "--version" | "-V") if found.is_none() => return arguments,
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                at += 1 + usize::from(takes_value(option));
            }
            _ => {
                found = Some(at);
                break;
            }
        }
    }
    let named = found.filter(|&at| {
        arguments[at].to_str().is_some_and(|word| {
            word == "help" || command.get_subcommands().any(|known| known.get_name() == word)
        })
    });
    match named {
        Some(at) => arguments[1..=at].rotate_right(1),
        None => arguments.insert(1, "check".into()),
    }
    match arguments
        .get(1)
        .and_then(|word| word.to_str())
        .and_then(|word| command.find_subcommand(word))
    {
        Some(of) if ["overlap", "claims"].contains(&of.get_name()) => options_first(of, arguments),
        _ => arguments,
    }
}

/// The arguments of a command that takes patterns or frames, which may begin with `-`: only what is an option to
/// the letter is one. Options come first, and behind `--` the rest.
fn options_first(command: &clap::Command, arguments: Vec<OsString>) -> Vec<OsString> {
    let option = |word: &str| {
        let (name, has_value) =
            word.split_once('=').map_or((word, false), |(name, _)| (name, true));
        if ["--help", "-h"].contains(&word) {
            return Some(false);
        }
        let known = command.get_arguments().find(|known| {
            known.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
                || known.get_short().is_some_and(|short| word == format!("-{short}"))
        })?;
        Some(known.get_action().takes_values() && !has_value)
    };
    let mut arguments = arguments.into_iter();
    let mut first: Vec<OsString> = arguments.by_ref().take(2).collect();
    let mut rest: Vec<OsString> = vec!["--".into()];
    while let Some(word) = arguments.next() {
        if word == "--" {
            rest.extend(arguments);
            break;
        }
        match word.to_str().and_then(option) {
            Some(takes_value) => {
                first.push(word);
                first.extend(if takes_value { arguments.next() } else { None });
            }
            None => rest.push(word),
        }
    }
    first.append(&mut rest);
    first
}

/// The names of the subcommands that help lists, for hints.
pub fn command_names() -> impl Iterator<Item = String> {
    let command = Cli::command();
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let names: Vec<_> = shown.map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter()
}

/// The command line as people type it: with the options of `check` where no command is named.
fn whole_command() -> clap::Command {
    let command = Cli::command();
    let check = command.find_subcommand("check");
    let arguments: Vec<_> =
        check.into_iter().flat_map(clap::Command::get_arguments).cloned().collect();
    command.subcommand_required(false).args_conflicts_with_subcommands(false).args(arguments)
}

/// The completions of `shell`.
pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut whole_command(), "reglint", &mut out);
    out
}

/// The man page, for section 1.
///
/// # Errors
///
/// Never: it is written to memory.
pub fn man_page() -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    clap_mangen::Man::new(whole_command()).render(&mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Cli {
        let words = std::iter::once("reglint").chain(line.split_whitespace());
        parse(words.map(OsString::from)).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_stand_anywhere() {
        for line in [
            "--format json check a.json -q",
            "check --format json -q a.json",
            "--format json a.json -q",
            "a.json --format=json -q",
            "-q --format json -- a.json",
        ] {
            let Command::Check(check) = parsed(line).command else { panic!("{line}") };
            assert_eq!(check.paths, [PathBuf::from("a.json")], "{line}");
            assert!(check.options.format == Format::Json && check.options.quiet, "{line}");
        }
    }

    #[test]
    fn a_path_may_look_like_a_command_behind_a_dot() {
        assert!(matches!(parsed("schema").command, Command::Schema { .. }));
        assert!(matches!(parsed("./schema").command, Command::Check(_)));
        assert!(matches!(parsed("-- schema").command, Command::Check(_)));
        assert!(matches!(parsed("--config schema explain").command, Command::Explain { .. }));
    }

    #[test]
    fn patterns_may_look_like_options() {
        for line in [
            "overlap -[AGXG x --format json",
            "--format json overlap -[AGXG x",
            "overlap --format=json -- -[AGXG x",
        ] {
            let Command::Overlap { patterns, options, .. } = parsed(line).command else {
                panic!("{line}")
            };
            assert_eq!(patterns, ["-[AGXG", "x"], "{line}");
            assert_eq!(options.format, Format::Json, "{line}");
        }
        let line = "claims -[AGXG a.json -q";
        let Command::Claims { frame, paths, options } = parsed(line).command else { panic!() };
        assert_eq!((frame.as_str(), paths.len(), options.quiet), ("-[AGXG", 1, true));
        let Command::Overlap { patterns, batch, .. } = parsed("overlap --batch -").command else {
            panic!()
        };
        assert_eq!((patterns.len(), batch), (0, Some(PathBuf::from("-"))));
    }

    #[test]
    fn levels_keep_their_order() {
        let Command::Check(check) =
            parsed("-D warnings a -A id-style -D id-style --warn x").command
        else {
            panic!()
        };
        let levels: Vec<_> = check.options.levels.iter().map(|(l, r)| (*l, r.as_str())).collect();
        assert_eq!(
            levels,
            [
                (Level::Deny, "warnings"),
                (Level::Allow, "id-style"),
                (Level::Deny, "id-style"),
                (Level::Warn, "x")
            ]
        );
    }
}
