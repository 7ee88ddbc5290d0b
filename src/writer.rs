//! The only writer of files that are checked: fixed texts to disk, and what would change as a diff.
//!
//! Uses `source` and `error`.
//!
//! A file is written whole under a name of its own beside the old one, which it then replaces: nobody ever
//! reads half of it, and nothing is lost where the disk is full. It keeps the permissions, and the owner
//! where the system lets it; another hard link of the file keeps the old text. A symbolic link is followed
//! only to what was asked for as well (see [`Bounds`]). A file that is read-only, or that is no longer what
//! was checked, stays as it is.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::error::Error;
use crate::source::{Role, Source, Sources};

/// So many lines around a change are shown in a diff.
const CONTEXT_LINES: usize = 3;

/// What may be written: the files that were named, by the names that they were given, and everything below
/// the folders that were named. The folders on the way to a name are taken as they are; a link at its end,
/// or below a folder that was named, has to lead to something that may be written itself.
#[derive(Debug)]
pub struct Bounds {
    /// Without links, in order.
    files: Vec<PathBuf>,
    /// Without links.
    folders: Vec<PathBuf>,
}

impl Bounds {
    /// The bounds of a run over `sources` for which the user gave `paths`.
    pub fn new(sources: &Sources, paths: &[PathBuf]) -> Self {
        let named = sources.iter().filter(|(_, source)| source.role() == Role::Named);
        let mut files: Vec<_> =
            named.filter_map(|(_, source)| itself(Path::new(source.path()))).collect();
        files.sort_unstable();
        let folders = paths.iter().filter(|path| path.is_dir());
        Self { files, folders: folders.filter_map(|path| path.canonicalize().ok()).collect() }
    }

    fn contains(&self, target: &Path) -> bool {
        let is_target = |file: &PathBuf| file.as_path().cmp(target);
        self.files.binary_search_by(is_target).is_ok()
            || self.folders.iter().any(|folder| target.starts_with(folder))
    }
}

/// The path of a file without links in its folders, its own name as it is.
fn itself(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// Puts the text of `source`, which was `before` when it was read, in the place of its file.
///
/// # Errors
///
/// The file cannot be written, must not be, or has changed since it was read. It is then as it was.
pub fn write(source: &Source, before: &str, bounds: &Bounds) -> Result<(), Error> {
    replace(Path::new(source.path()), before, source.text(), bounds)
        .map_err(|error| Error::WriteFile { path: source.path().to_owned(), source: error })
}

/// Whether the file of `source` may be written, as far as that shows before it is.
///
/// # Errors
///
/// Why not.
pub fn check(source: &Source, bounds: &Bounds) -> Result<(), Error> {
    match target(Path::new(source.path()), bounds) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::WriteFile { path: source.path().to_owned(), source: error }),
    }
}

/// The file behind `path`, which may be written.
fn target(path: &Path, bounds: &Bounds) -> io::Result<(PathBuf, fs::Metadata)> {
    let target = path.canonicalize()?;
    if !bounds.contains(&target) {
        let words = "it is a link that leads out of what was named; name the file it leads to";
        return Err(io::Error::other(words));
    }
    let metadata = fs::metadata(&target)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    Ok((target, metadata))
}

fn replace(path: &Path, before: &str, after: &str, bounds: &Bounds) -> io::Result<()> {
    let (target, metadata) = target(path, bounds)?;
    let folder = target.parent().ok_or_else(|| io::Error::other("it is in no folder"))?;
    // A name that neither version control nor a listing of `*.json` takes for a register.
    let mut file =
        tempfile::Builder::new().prefix(".reglint-").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(after.as_bytes())?;
    keep_owner(file.as_file(), &metadata);
    fs::set_permissions(file.path(), metadata.permissions())?;
    file.as_file().sync_all()?;
    if fs::read(&target)? != before.as_bytes() {
        return Err(io::Error::other("it changed while it was checked"));
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Gives the new file to the owner of the old one, where the system lets it.
#[cfg(unix)]
fn keep_owner(file: &fs::File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let is_same = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
    if !is_same {
        // Only a superuser may, and the text matters more.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) {}

/// Puts the new content of a file that is not a register in place at once, so that nobody finds half of it. A link
/// stays one.
///
/// # Errors
///
/// The file cannot be written. It is then as it was.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let new = path.with_file_name(name);
    let written = fs::File::create_new(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        if let Ok(metadata) = fs::metadata(&path) {
            file.set_permissions(metadata.permissions())?;
        }
        fs::rename(&new, &path)
    });
    if written.is_err() {
        // The new file is of no use; what went wrong is said already.
        let _ = fs::remove_file(&new);
    }
    written
}

/// What changed in the file shown as `path`, as a unified diff that `patch` takes.
pub fn diff(path: &str, before: &str, after: &str) -> String {
    // Lines end with a line feed, for `patch` as for us; others take a lone `\r` for an end too.
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&old, &new)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(path, path)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_by_line_feeds() {
        assert_eq!(
            diff("a.json", "1\r\n2\r3\r\n4", "1\r\n2\rX\r\n4"),
            "--- a.json\n+++ a.json\n@@ -1,3 +1,3 @@\n 1\r\n-2\r3\r\n+2\rX\r\n 4\n\\ No newline at end of file\n"
        );
        assert_eq!(diff("a", "x\n", "x\n"), "");
    }

    /// Writes `after` over a file that was `before`; gives what went wrong, and the folder's files.
    fn try_write(
        there: &str,
        before: &str,
        named: bool,
    ) -> (Option<String>, Vec<(String, String)>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        fs::write(&path, there).unwrap();
        let source = Source::new(path.to_str().unwrap(), b"after".to_vec());
        let paths = [folder.path().to_path_buf()];
        let bounds = Bounds::new(&Sources::default(), if named { &paths } else { &[] });
        let error = write(&source, before, &bounds).err().map(|error| error.to_string());
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        });
        (error, files.collect())
    }

    #[test]
    fn a_file_is_written_only_over_what_was_read() {
        let only = |text: &str| vec![("r.json".to_owned(), text.to_owned())];
        let (error, files) = try_write("before", "before", true);
        assert_eq!((error, files), (None, only("after")));
        let (error, files) = try_write("later", "before", true);
        assert!(error.unwrap().ends_with("r.json`: it changed while it was checked"));
        assert_eq!(files, only("later"));
        let (error, files) = try_write("before", "before", false);
        assert!(error.unwrap().contains("leads out of what was named"));
        assert_eq!(files, only("before"));
    }
}
