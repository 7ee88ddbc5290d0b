//! The only reader of files that are checked: from paths to sources; and of evidence.
//!
//! Uses `source`, `span`, `config`, `error`. One path that cannot be read never hides another.

pub mod evidence;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use ahash::AHashSet;
use rayon::prelude::*;

use crate::config::{self, Config};
use crate::error::Error;
use crate::paths::normalize;
use crate::source::{MAX_BYTES, Role, Source, Sources};
use crate::span::FileId;

/// The path that standard input is shown as where none was given for it.
const STDIN: &str = "<stdin>";

/// So many files are looked at before a second thread pays off.
const WORTH_A_THREAD: usize = 16;

/// What to read.
#[derive(Debug)]
pub struct Request<'a> {
    /// What the user named; nothing for the configured registers.
    pub paths: &'a [PathBuf],
    /// The path that `-` stands for.
    pub stdin_filename: Option<&'a Path>,
    /// Whether exclusions hold for files that were named.
    pub force_exclude: bool,
    /// The configuration.
    pub config: &'a Config,
    /// The working folder, absolute.
    pub folder: &'a Path,
}

/// What was read, and what could not be.
#[derive(Debug, Default)]
pub struct Input {
    /// The sources, siblings read for context among them.
    pub sources: Sources,
    /// The source that came from standard input.
    pub stdin: Option<FileId>,
    /// Whether standard input was named and its path is excluded: nothing was read of it.
    pub passed_over_stdin: bool,
    /// What went wrong, in the order of the paths.
    pub errors: Vec<Error>,
    /// The siblings that could not be read: what they hold is not known, and nobody asked for them.
    pub unread: Vec<PathBuf>,
}

/// Reads what `request` asks for, and the siblings that findings may need.
pub fn read(request: &Request<'_>) -> Input {
    let mut list = Listing::default();
    if request.paths.is_empty() {
        list_configured(request, &mut list);
    }
    let is_dir = |path: &PathBuf| path.is_dir();
    let folders: Vec<bool> = if request.paths.len() < WORTH_A_THREAD {
        request.paths.iter().map(is_dir).collect()
    } else {
        request.paths.par_iter().map(is_dir).collect()
    };
    for (path, is_dir) in request.paths.iter().zip(folders) {
        if path.as_os_str() == "-" {
            let name = request.stdin_filename.filter(|_| request.force_exclude);
            let is_excluded = name.is_some_and(|name| request.excludes(name));
            list.stdin = !is_excluded;
            list.passed_over_stdin = is_excluded;
        } else if is_dir {
            list_folder(request, path, &mut list);
        } else if !(request.force_exclude && request.excludes(path)) {
            list.files.push(Wanted { path: path.clone(), role: Role::Named });
        }
    }
    list_context(request, &mut list);
    load(request, list)
}

/// Passes standard input on as it is.
///
/// # Errors
/// What either end says.
pub fn copy_stdin(mut out: &mut dyn io::Write) -> io::Result<()> {
    io::copy(&mut io::stdin().lock(), &mut out).map(|_| ())
}

/// A file that is read a few lines at a time, in lists of at most [`Lines::AT_ONCE`].
pub struct Lines {
    path: String,
    reader: Box<dyn BufRead>,
}

impl Lines {
    /// So many lines are read at once.
    pub const AT_ONCE: usize = 4096;

    /// No line more is read at once behind so many bytes.
    const BYTES_AT_ONCE: usize = 1 << 24;

    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let file = File::open(path);
            Box::new(BufReader::new(file.map_err(|source| Error::Read {
                path: shown.clone(),
                source,
                hint: None,
            })?))
        };
        Ok(Self { path: shown, reader })
    }
}

impl Iterator for Lines {
    type Item = Result<Vec<Vec<u8>>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut lines = Vec::new();
        let mut bytes = 0;
        while lines.len() < Self::AT_ONCE && bytes < Self::BYTES_AT_ONCE {
            let mut line = Vec::new();
            let limit = MAX_BYTES as u64;
            let read = (&mut self.reader).take(limit).read_until(b'\n', &mut line);
            match read {
                Ok(0) => break,
                Ok(bytes) if bytes as u64 == limit => {
                    return Some(Err(Error::TooLarge { path: self.path.clone(), limit }));
                }
                Ok(_) => {}
                Err(source) => {
                    let path = self.path.clone();
                    return Some(Err(Error::Read { path, source, hint: None }));
                }
            }
            bytes += line.len();
            lines.push(line);
        }
        (!lines.is_empty()).then_some(Ok(lines))
    }
}

impl Request<'_> {
    /// Whether the configuration passes `path` over.
    fn excludes(&self, path: &Path) -> bool {
        let exclude = &self.config.exclude;
        !exclude.is_empty() && exclude.matches(&self.absolute(path))
    }

    /// `path` from the root of the file system, `.` and `..` resolved by name.
    fn absolute(&self, path: &Path) -> PathBuf {
        normalize(&self.folder.join(path))
    }
}

/// A file to read.
#[derive(Debug)]
struct Wanted {
    path: PathBuf,
    role: Role,
}

#[derive(Debug, Default)]
struct Listing {
    files: Vec<Wanted>,
    stdin: bool,
    passed_over_stdin: bool,
    errors: Vec<Error>,
}

/// Lists the files that the configuration calls registers.
fn list_configured(request: &Request<'_>, list: &mut Listing) {
    let config = request.config;
    let before = list.files.len();
    for glob in &config.registers {
        for path in configured(request, glob, &mut list.errors) {
            list.files.push(Wanted { path: relative(&path, request.folder), role: Role::Named });
        }
    }
    if list.files.len() == before && list.errors.is_empty() {
        let globs: Vec<_> = config.registers.iter().map(|glob| format!("`{glob}`")).collect();
        list.errors.push(Error::Usage {
            message: format!("no register was named, and none matches {}", globs.join(", ")),
            hint: Some("name files or folders: `reglint registers`".to_owned()),
        });
    }
}

/// The files that a glob of the configuration leads to, from the root of the file system.
fn configured(request: &Request<'_>, glob: &str, errors: &mut Vec<Error>) -> Vec<PathBuf> {
    let root = &request.config.root;
    let glob = config::resolved(glob);
    let glob = glob.as_str();
    // The part of the glob that is a plain folder is where the search begins.
    let parts = || Path::new(glob).components().filter(|part| *part != Component::CurDir);
    let plain: PathBuf = parts().take_while(|part| !is_wild(part.as_os_str())).collect();
    let start = root.join(&plain);
    if start.is_file() {
        return vec![start];
    }
    let Ok(matcher) = config::path_glob(glob) else { return Vec::new() };
    // Only `**` and a class of characters could reach deeper than the glob has parts.
    let depth = parts().count() - plain.components().count();
    let depth = (!glob.contains("**") && !glob.contains('[')).then_some(depth);
    let mut files = walk(request, &start, depth, errors);
    files.retain(|path| path.strip_prefix(root).is_ok_and(|path| matcher.is_match(path)));
    files
}

/// Whether a part of a glob is more than a name.
fn is_wild(part: &OsStr) -> bool {
    config::is_wild(&part.to_string_lossy())
}

/// Lists the `*.json` files in a folder that was named, and below it.
fn list_folder(request: &Request<'_>, folder: &Path, list: &mut Listing) {
    let files = walk(request, folder, None, &mut list.errors);
    let json = files.into_iter().filter(|path| path.extension() == Some(OsStr::new("json")));
    list.files.extend(json.map(|path| Wanted { path, role: Role::Found }));
}

/// The files below a folder that version control does not ignore and the configuration does not
/// exclude, hidden ones aside; at most `depth` folders down where that is given.
fn walk(
    request: &Request<'_>,
    folder: &Path,
    depth: Option<usize>,
    errors: &mut Vec<Error>,
) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return files;
    }
    for entry in ignore::WalkBuilder::new(folder).require_git(true).max_depth(depth).build() {
        match entry {
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|kind| is_regular(kind, entry.path()));
                if is_file && !request.excludes(entry.path()) {
                    files.push(entry.into_path());
                }
            }
            Err(error) => errors.push(Error::Read {
                path: folder.display().to_string(),
                source: error
                    .into_io_error()
                    .unwrap_or_else(|| io::Error::other("cannot be listed")),
                hint: None,
            }),
        }
    }
    files
}

/// Whether what was merely found can be read like a file: a pipe would wait for a writer for ever, and
/// a link may lead nowhere.
fn is_regular(kind: fs::FileType, path: &Path) -> bool {
    kind.is_file()
        || kind.is_symlink() && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Lists what is read for context only: the other configured registers where one of them is checked, and
/// the `*.json` files beside all of these. What cannot be listed is passed over: nobody asked for it.
fn list_context(request: &Request<'_>, list: &mut Listing) {
    let stdin = list.stdin.then_some(request.stdin_filename).flatten();
    let checked = || list.files.iter().map(|wanted| wanted.path.as_path()).chain(stdin);
    let mut context = Vec::new();
    // Without a path, all of them are checked.
    if !request.paths.is_empty() {
        context = other_configured(request, checked);
    }
    let mut folders: AHashSet<OsString> = AHashSet::new();
    let mut siblings = Vec::new();
    for path in checked().chain(context.iter().map(PathBuf::as_path)) {
        let folder = path.parent().unwrap_or(Path::new(""));
        if !folders.insert(folder.as_os_str().to_owned()) {
            continue;
        }
        let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        for entry in fs::read_dir(listed).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            let is_json = path.extension() == Some(OsStr::new("json"));
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_file = || entry.file_type().is_ok_and(|kind| is_regular(kind, &path));
            if is_json && !is_hidden && is_file() && !request.excludes(&path) {
                siblings.push(path);
            }
        }
    }
    context.append(&mut siblings);
    // By name, so that of two names of one file always the same one is read.
    context.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    list.files.extend(context.into_iter().map(|path| Wanted { path, role: Role::Context }));
}

/// The registers of the configuration where one of them is among the `checked` ones: they are checked
/// together, whichever of them are named.
fn other_configured<'p, I: Iterator<Item = &'p Path>>(
    request: &Request<'_>,
    checked: impl Fn() -> I,
) -> Vec<PathBuf> {
    let Config { root, registers, file: Some(_), .. } = request.config else { return Vec::new() };
    let from_root = |path: &Path| relative(&request.absolute(path), root);
    let mut is_one = false;
    for glob in registers {
        let Ok(matcher) = config::path_glob(glob) else { continue };
        let named = PathBuf::from(config::resolved(glob));
        is_one |= checked().map(from_root).any(|path| path == named || matcher.is_match(path));
    }
    if !is_one {
        return Vec::new();
    }
    // Spelled as what is checked: "later" is by path.
    let is_absolute = checked().all(Path::is_absolute);
    let spelled = |path: PathBuf| {
        let path = normalize(&path);
        if is_absolute { path } else { relative(&path, request.folder) }
    };
    let globs = registers.iter().filter(|glob| !is_beside(request, glob, &checked));
    let files = globs.flat_map(|glob| configured(request, glob, &mut Vec::new()));
    files.map(spelled).collect()
}

/// Whether all that a glob leads to lies in a folder of one of the `checked` files, and is read for that.
fn is_beside<'p, I: Iterator<Item = &'p Path>>(
    request: &Request<'_>,
    glob: &str,
    checked: impl Fn() -> I,
) -> bool {
    let glob = &config::resolved(glob);
    let path = Path::new(glob);
    let Some(folder) = path.parent() else { return false };
    let has_one_folder = !folder.components().any(|part| is_wild(part.as_os_str()))
        && !glob.contains("**")
        && !glob.contains('[');
    let is_json = path.extension() == Some(OsStr::new("json"));
    // A name is taken though it is excluded, or hidden.
    let is_name = path
        .file_name()
        .is_none_or(|name| !is_wild(name) || name.as_encoded_bytes().starts_with(b"."));
    let folder = normalize(&request.config.root.join(folder));
    let is_there = |path: &Path| request.absolute(path).parent() == Some(&folder);
    has_one_folder && is_json && !is_name && checked().any(is_there)
}

/// Reads the files, each once whatever names it has, and standard input.
fn load(request: &Request<'_>, list: Listing) -> Input {
    // By their bytes: a path hashes itself part by part.
    let mut seen: AHashSet<OsString> = AHashSet::with_capacity(list.files.len());
    let stdin = list.stdin.then(|| {
        let shown = request.stdin_filename.map_or(STDIN.into(), shown);
        if let Some(path) = request.stdin_filename {
            seen.insert(request.absolute(path).into_os_string());
        }
        let place = request.absolute(Path::new(&shown)).display().to_string();
        read_bounded(&shown, io::stdin().lock(), 0, MAX_BYTES)
            .map(|bytes| Source::new(shown, bytes).with_place(place))
    });
    let mut wanted: Vec<(Wanted, String)> = Vec::with_capacity(list.files.len());
    for file in list.files {
        let absolute = request.absolute(&file.path);
        let place = absolute.display().to_string();
        if seen.insert(absolute.into_os_string()) {
            wanted.push((file, place));
        }
    }
    let read = |(wanted, place): &(Wanted, String)| {
        let (source, identity) = read_file(&wanted.path, wanted.role)?;
        Ok((source.with_place(place.as_str()), identity))
    };
    let results: Vec<_> = if wanted.len() < WORTH_A_THREAD {
        wanted.iter().map(read).collect()
    } else {
        wanted.par_iter().map(read).collect()
    };

    let passed_over_stdin = list.passed_over_stdin;
    let mut input = Input { errors: list.errors, passed_over_stdin, ..Input::default() };
    let mut sources = Vec::new();
    let mut identities = AHashSet::new();
    let mut name = None;
    match stdin {
        Some(Ok(source)) => {
            name = Some(source.path().to_owned());
            sources.push(source);
        }
        Some(Err(error)) => input.errors.push(error),
        None => {}
    }
    for ((Wanted { path, role }, _), result) in wanted.into_iter().zip(results) {
        match result {
            Ok((source, identity)) => {
                if identity.is_none_or(|identity| identities.insert(identity)) {
                    sources.push(source);
                }
            }
            Err(_) if role == Role::Context => input.unread.push(path),
            Err(error) => input.errors.push(error),
        }
    }
    input.sources = Sources::new(sources);
    let is_stdin = |source: &Source| name.as_deref() == Some(source.path());
    input.stdin = input.sources.iter().find(|(_, source)| is_stdin(source)).map(|(file, _)| file);
    input
}

/// Which file it is, whatever its name: device and number.
type Identity = (u64, u64);

fn read_file(path: &Path, role: Role) -> Result<(Source, Option<Identity>), Error> {
    let name = shown(path);
    let failed = |source| Error::Read { path: name.clone(), source, hint: None };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let bytes = read_bounded(&name, file, metadata.len(), MAX_BYTES)?;
    Ok((Source::new(name, bytes).with_role(role), identity(&metadata)))
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)]
fn identity(metadata: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<Identity> {
    None
}

/// All bytes of `reader`, of which about `expected` are there, and at most `limit` are taken.
fn read_bounded(
    name: &str,
    reader: impl Read,
    expected: u64,
    limit: usize,
) -> Result<Vec<u8>, Error> {
    // One more than expected: the read that finds the end needs no second buffer.
    let mut bytes = Vec::with_capacity((expected as usize).min(limit) + 1);
    let failed = |source| Error::Read { path: name.to_owned(), source, hint: None };
    reader.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limit {
        return Err(Error::TooLarge { path: name.to_owned(), limit: limit as u64 });
    }
    Ok(bytes)
}

/// The path as it is shown: what the user wrote, without what says nothing: `./`, `//`, and a folder with
/// the way out of it. A link keeps that: behind it `..` leads elsewhere.
fn shown(path: &Path) -> String {
    let mut out = PathBuf::new();
    for part in path.components() {
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_symlink());
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_)))
                    && !is_link(&out) =>
            {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out.display().to_string()
}

/// An absolute `path` as it is written from the folder `from`.
fn relative(path: &Path, from: &Path) -> PathBuf {
    let common = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_the_working_folder() {
        let from = |path: &str, from: &str| relative(Path::new(path), Path::new(from));
        assert_eq!(from("/r/a/b.json", "/r"), Path::new("a/b.json"));
        assert_eq!(from("/r/a/b.json", "/r/c/d"), Path::new("../../a/b.json"));
    }

    #[test]
    fn paths_are_shown_as_short_as_they_are() {
        for (path, expected) in [
            ("./a.json", "a.json"),
            ("a//./b/../c.json", "a/c.json"),
            ("../a/../../b.json", "../../b.json"),
            ("/r/../b.json", "/b.json"),
        ] {
            assert_eq!(shown(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        struct Endless;
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.len())
            }
        }
        assert!(matches!(read_bounded("x", Endless, 9, 1000), Err(Error::TooLarge { .. })));
        assert_eq!(read_bounded("x", &b"abc"[..], 0, 3).unwrap(), b"abc");
    }
}
