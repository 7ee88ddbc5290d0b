//! Evidence by the family that it is about.
//!
//! Uses the model of `evidence`.

use std::collections::BTreeMap;

use super::Evidence;
use super::error::EvidenceError;

/// The evidence of a run: one body for each family that has some of its own, and one for all others.
#[derive(Debug, Clone, Default)]
pub struct Sets {
    list: Vec<Evidence>,
    families: BTreeMap<String, usize>,
    general: Option<usize>,
}

impl Sets {
    /// Puts together what was read: each item with the family that it is about, or with none where it
    /// is about every family. What is about every family is part of each family's body. The order of
    /// the items is that of the sources.
    ///
    /// # Errors
    /// A bound of frames.
    pub fn new(items: Vec<(Option<String>, Evidence)>) -> Result<Self, EvidenceError> {
        let names: std::collections::BTreeSet<String> =
            items.iter().filter_map(|(family, _)| family.clone()).collect();
        let mut sets = Self::default();
        for name in names {
            let own = |family: &Option<String>| family.as_ref().is_none_or(|own| *own == name);
            let parts = items.iter().filter(|(family, _)| own(family));
            let body = merged(parts.map(|(_, evidence)| evidence.clone()))?;
            sets.families.insert(name, sets.list.len());
            sets.list.push(body);
        }
        let general = items.into_iter().filter(|(family, _)| family.is_none());
        let mut general = general.map(|(_, evidence)| evidence).peekable();
        if general.peek().is_some() {
            sets.general = Some(sets.list.len());
            sets.list.push(merged(general)?);
        }
        Ok(sets)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of the body that is about a family; `None` where none is.
    pub fn number(&self, family: Option<&str>) -> Option<usize> {
        family.and_then(|family| self.families.get(family)).copied().or(self.general)
    }

    /// The body of that number.
    pub fn get(&self, number: usize) -> Option<&Evidence> {
        self.list.get(number)
    }

    /// All bodies, by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Evidence> {
        self.list.iter()
    }

    /// The families that have evidence of their own, in order.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.families.keys().map(String::as_str)
    }
}

fn merged(parts: impl Iterator<Item = Evidence>) -> Result<Evidence, EvidenceError> {
    let mut body: Option<Evidence> = None;
    for part in parts {
        match &mut body {
            None => body = Some(part),
            Some(body) => body.merge(part)?,
        }
    }
    Ok(body.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Evidence {
        Evidence::read(text, text.as_bytes(), None).unwrap()
    }

    #[test]
    fn a_family_has_its_own_and_the_general_evidence() {
        let own = |family: &str| Some(family.to_owned());
        let sets = Sets::new(vec![
            (own("gemma"), names("a")),
            (None, names("b")),
            (own("gemma"), names("c")),
            (own("qwen35"), names("d")),
        ])
        .unwrap();
        let sources = |family: Option<&str>| -> Vec<&str> {
            let body = sets.number(family).and_then(|number| sets.get(number)).unwrap();
            body.sources().iter().map(|source| source.name.as_str()).collect()
        };
        assert_eq!(sources(Some("gemma")), ["a", "b", "c"]);
        assert_eq!(sources(Some("qwen35")), ["b", "d"]);
        assert_eq!(sources(Some("other")), ["b"]);
        assert_eq!(sources(None), ["b"]);
        let only = Sets::new(vec![(own("gemma"), names("a"))]).unwrap();
        assert_eq!(only.number(Some("other")), None);
        assert!(Sets::new(Vec::new()).unwrap().is_empty());
    }
}
