//! Symbol tables of ELF and Mach-O files, of fat ones, and of archives of them.
//!
//! Functions that are defined there, spelled as a profiler prints them: Rust's legacy names with
//! their segments joined by `::` and their escapes left (`_$LT$…`), C++ names demangled, v0 names as
//! they are. Uses the model of `evidence`.

use std::borrow::Cow;
use std::io::Read;

use object::read::archive::ArchiveFile;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::{BinaryFormat, FileKind, Object, ObjectSymbol, SymbolKind};

use super::bounds::{self, Capped};
use super::error::{EvidenceError, Place};
use super::format::Format;
use super::frames::{Frames, is_frame};
use super::function::printed;
use super::{Notes, Read as Reading};

/// The most bytes of names that are looked at: symbols may share a name, or parts of one.
const WORK: usize = 1 << 30;

/// Longer names are not demangled.
const DEMANGLED: usize = 1 << 14;

#[derive(Default)]
struct Reader {
    frames: Frames,
    notes: Notes,
    work: usize,
    objects: usize,
}

/// A symbol as a profiler prints it.
pub(super) fn spelled(name: &str) -> Cow<'_, str> {
    if name.len() > DEMANGLED { Cow::Borrowed(name) } else { printed(name) }
}

/// Reads a binary.
pub(super) fn read(input: impl Read) -> Result<Reading, EvidenceError> {
    let mut data = Vec::new();
    Capped::new(input, bounds::BINARY_BYTES).read_to_end(&mut data)?;
    let mut reader = Reader::default();
    reader.file(&data, true)?;
    if reader.frames.is_empty() {
        let what = if reader.objects == 0 { "no object in it" } else { "it has been stripped" };
        return Err(EvidenceError::Empty(Format::Binary, Some(what.to_owned())));
    }
    Ok(Reading::symbols(reader.frames, reader.notes))
}

fn broken(error: object::Error) -> EvidenceError {
    EvidenceError::Broken { format: Format::Binary, what: error.to_string(), at: Place::Unknown }
}

impl Reader {
    /// A file, or a member of one. Members that are no objects are passed over: archives of Rust
    /// have the compiler's metadata in them.
    fn file(&mut self, data: &[u8], is_whole: bool) -> Result<(), EvidenceError> {
        let kind = match FileKind::parse(data) {
            Ok(kind) => kind,
            Err(error) if is_whole => return Err(broken(error)),
            Err(_) => return Ok(()),
        };
        match kind {
            FileKind::Archive if is_whole => {
                let archive = ArchiveFile::parse(data).map_err(broken)?;
                if archive.is_thin() {
                    let error = "a thin archive, whose objects are in other files";
                    return Err(EvidenceError::Empty(Format::Binary, Some(error.to_owned())));
                }
                for member in archive.members() {
                    let member = member.map_err(broken)?;
                    self.file(member.data(data).map_err(broken)?, false)?;
                }
                Ok(())
            }
            FileKind::MachOFat32 if is_whole => {
                let fat = MachOFatFile32::parse(data).map_err(broken)?;
                self.slices(fat.arches(), data)
            }
            FileKind::MachOFat64 if is_whole => {
                let fat = MachOFatFile64::parse(data).map_err(broken)?;
                self.slices(fat.arches(), data)
            }
            FileKind::Elf32 | FileKind::Elf64 | FileKind::MachO32 | FileKind::MachO64 => {
                self.object(data)
            }
            _ => Ok(()),
        }
    }

    /// A fat file's slices, each a Mach-O file or an archive.
    fn slices<A: FatArch>(&mut self, slices: &[A], data: &[u8]) -> Result<(), EvidenceError> {
        const SLICES: usize = 32;
        bounds::check("architectures in a binary", slices.len(), SLICES)?;
        for slice in slices {
            let slice = slice.data(data).map_err(broken)?;
            // A slice that is the file itself would go round.
            if slice.len() < data.len() {
                let is_archive = matches!(FileKind::parse(slice), Ok(FileKind::Archive));
                self.file(slice, is_archive)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, data: &[u8]) -> Result<(), EvidenceError> {
        let object = object::File::parse(data).map_err(broken)?;
        self.objects += 1;
        let underscored = object.format() == BinaryFormat::MachO;
        for symbol in object.symbols().chain(object.dynamic_symbols()) {
            if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
                continue;
            }
            let Ok(name) = symbol.name_bytes() else { continue };
            self.work += name.len();
            bounds::check("bytes of symbols", self.work, WORK)?;
            bounds::check("bytes in a name", name.len(), bounds::NAME)?;
            let name = if underscored { name.strip_prefix(b"_").unwrap_or(name) } else { name };
            let name = String::from_utf8_lossy(name);
            let name = spelled(&name);
            if is_frame(&name) {
                self.frames.add(&name)?;
            } else {
                self.notes.unfit_names += u64::from(!name.is_empty());
            }
        }
        Ok(())
    }
}
