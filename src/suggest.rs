//! What was probably meant, for names that are not known.
//!
//! Uses nothing of the crate.

/// The candidate that `name` is most likely a slip of: the fewest edits, not more than a third of
/// the name's length. Case and the choice between `-` and `_` count for nothing.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let fold = |text: &str| text.to_lowercase().replace('-', "_");
    let folded = fold(name);
    // Beyond this length no known name is near, and the distance would be quadratic work.
    if name.len() > 200 {
        return None;
    }
    // One letter is no slip of another.
    let allowed = match folded.chars().count() {
        0 | 1 => 0,
        length => (length / 3).max(1),
    };
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &fold(candidate)), candidate))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The hint for one candidate.
pub(crate) fn did_you_mean(candidate: &str) -> String {
    format!("did you mean `{candidate}`?")
}

/// The hint for a name among a few: the nearest one, else all of them.
pub(crate) fn or_all(name: &str, candidates: &[&str]) -> String {
    nearest(name, candidates.iter().copied()).map_or_else(
        || {
            let list: Vec<_> = candidates.iter().map(|known| format!("`{known}`")).collect();
            format!("known: {}", list.join(", "))
        },
        did_you_mean,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["id", "description", "canonical_frame_regex"];
        let near = |name: &str| nearest(name, names);
        assert_eq!(near("canonical_frame_regx"), Some("canonical_frame_regex"));
        assert_eq!(near("canonical-frame-regex"), Some("canonical_frame_regex"));
        assert_eq!(near("ID"), Some("id"));
        assert_eq!(near("di"), Some("id"));
        assert_eq!(near("owner"), None);
        assert_eq!(nearest("m", ["n"]), None);
        assert_eq!(nearest("N", ["n"]), Some("n"));
        assert_eq!(near(&"x".repeat(100_000)), None);
    }
}
