//! The command line: its types, and the one rewriting that lets options stand anywhere.
//!
//! Uses `output` for the names of formats, and `rules` for those of rules.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

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

    /// When to colour the text
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorChoice,

    /// Print findings only, no summary
    #[arg(long, short)]
    pub quiet: bool,

    /// Exit with 0 whatever is found
    #[arg(long)]
    pub exit_zero: bool,

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
        }))
    }
}

impl Command {
    fn options_mut(&mut self) -> &mut Options {
        match self {
            Self::Check(check) => &mut check.options,
            Self::Explain { options, .. }
            | Self::Rules { options }
            | Self::Schema { options, .. } => options,
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
    let check = command.find_subcommand("check");
    let takes_value = |option: &str| {
        check.into_iter().flat_map(clap::Command::get_arguments).any(|argument| {
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
    arguments
}

/// The names of the subcommands, for hints.
pub fn command_names() -> impl Iterator<Item = String> {
    let command = Cli::command();
    let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter()
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
