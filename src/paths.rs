//! Paths by name: what they are seen from another folder, and whether two are one.
//!
//! Uses nothing of the crate. Only [`is_same`] looks at the file system.

use std::path::{Component, Path, PathBuf};

/// `.` and `..` resolved by name alone.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether two paths, seen from the absolute `folder`, are one: by name, or because links lead to one file.
pub(crate) fn is_same(a: &Path, b: &Path, folder: &Path) -> bool {
    let (a, b) = (folder.join(a), folder.join(b));
    if normalize(&a) == normalize(&b) {
        return true;
    }
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// An absolute `path` as it is written from the folder `from`, with `/` between its parts.
pub(crate) fn from_folder(path: &Path, from: &Path) -> String {
    let common = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| "..".into());
    let down = path.components().skip(common).map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_a_folder() {
        let from = |path: &str, from: &str| from_folder(Path::new(path), Path::new(from));
        assert_eq!(from("/r/a/b.json", "/r"), "a/b.json");
        assert_eq!(from("/r/a/b.json", "/r/c/d"), "../../a/b.json");
        assert_eq!(normalize(Path::new("/r/./a/../b")), Path::new("/r/b"));
    }
}
