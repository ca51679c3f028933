//! ProtocolIE-Container (E2AP §9.3.6), and messages as tables of IEs.

use super::Version;
use super::ids::IeId;
use crate::aper::{
    Criticality, DecodeError, DecodeErrorKind, EncodeError, Reader, UnknownIe, Writer,
};

/// A type that is the value of an IE or of a list item.
pub(crate) trait Ie: Sized {
    fn read(r: &mut Reader<'_>, version: Version) -> Result<Self, DecodeError>;
    fn write(&self, w: &mut Writer, version: Version) -> Result<(), EncodeError>;
}

/// Encoding of an IE header with an empty value: id, criticality, length of the open type.
const LEAST_IE_BITS: usize = 32;

/// Reads every IE of a container, in whatever order it comes. `take` answers whether it knows the IE.
pub(crate) fn read_container(
    r: &mut Reader<'_>,
    mut take: impl FnMut(u16, &mut Reader<'_>) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    let count = r.constrained(0, 65535)? as usize;
    if count * LEAST_IE_BITS > r.bits_left() {
        let left = r.bits_left() as u64;
        return Err(r.error(DecodeErrorKind::TooManyItems {
            count: count as u64,
            left,
        }));
    }
    (0..count).try_for_each(|_| {
        read_ie(r, |id, r| take(id, r).map(|known| known.then_some(()))).map(drop)
    })
}

/// Reads one IE; an unknown one is skipped and noted, and gives `None`.
pub(crate) fn read_ie<T>(
    r: &mut Reader<'_>,
    take: impl FnOnce(u16, &mut Reader<'_>) -> Result<Option<T>, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    let id = r.constrained(0, 65535)? as u16;
    let criticality = read_criticality(r)?;
    r.open_type(|r| {
        let value = take(id, r)?;
        if value.is_none() {
            r.skip_rest();
            r.notes_mut().unknown_ie(UnknownIe { id, criticality });
        }
        Ok(value)
    })
}

/// Writes one IE.
pub(crate) fn write_ie(
    w: &mut Writer,
    id: u16,
    criticality: Criticality,
    value: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    w.constrained(u64::from(id), 0, 65535)?;
    write_criticality(w, criticality);
    w.open_type(value)
}

pub(crate) fn read_criticality(r: &mut Reader<'_>) -> Result<Criticality, DecodeError> {
    match r.bits(2)? {
        0 => Ok(Criticality::Reject),
        1 => Ok(Criticality::Ignore),
        2 => Ok(Criticality::Notify),
        other => Err(r.out_of_range(other, 0, 2)),
    }
}

pub(crate) fn write_criticality(w: &mut Writer, criticality: Criticality) {
    w.bits(criticality as u64, 2);
}

/// Keeps the first occurrence of an IE that may occur once.
pub(crate) fn fill<T>(
    slot: &mut Option<T>,
    r: &mut Reader<'_>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Result<bool, DecodeError> {
    if slot.is_some() {
        r.notes_mut().duplicate_ies += 1;
        r.skip_rest();
    } else {
        *slot = Some(read(r)?);
    }
    Ok(true)
}

/// An IE that must be there.
pub(crate) mod required {
    use super::*;

    pub(crate) fn settle<T>(
        slot: Option<T>,
        id: &IeId,
        version: Version,
        missing: &mut Vec<u16>,
    ) -> Option<T> {
        if slot.is_none() {
            missing.extend(id.in_version(version));
        }
        slot
    }

    pub(crate) fn present<T>(value: &T) -> Option<&T> {
        Some(value)
    }
}

/// An IE that must be there from v2.03 on; before that it is unknown or may be left out.
pub(crate) mod since_v2 {
    use super::*;

    pub(crate) fn settle<T: Default>(
        slot: Option<T>,
        id: &IeId,
        version: Version,
        missing: &mut Vec<u16>,
    ) -> Option<T> {
        match version {
            Version::V1_01 => Some(slot.unwrap_or_default()),
            _ => required::settle(slot, id, version, missing),
        }
    }

    pub(crate) fn present<T>(value: &T) -> Option<&T> {
        Some(value)
    }
}

/// An IE that may be left out.
pub(crate) mod optional {
    use super::*;

    pub(crate) fn settle<T>(
        slot: Option<T>,
        _: &IeId,
        _: Version,
        _: &mut Vec<u16>,
    ) -> Option<Option<T>> {
        Some(slot)
    }

    pub(crate) fn present<T>(value: &Option<T>) -> Option<&T> {
        value.as_ref()
    }
}

/// A list that may be left out, and is if it is empty.
pub(crate) mod list {
    use super::*;

    pub(crate) fn settle<T>(
        slot: Option<Vec<T>>,
        _: &IeId,
        _: Version,
        _: &mut Vec<u16>,
    ) -> Option<Vec<T>> {
        Some(slot.unwrap_or_default())
    }

    pub(crate) fn present<T>(value: &Vec<T>) -> Option<&Vec<T>> {
        (!value.is_empty()).then_some(value)
    }
}

/// Defines a message as the tables of E2AP §9.1 do, one IE a line in the order in which they are sent:
/// field, type, presence, encoding (see `values`), id (see `ids`) and criticality.
macro_rules! message {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty = $presence:ident $encoding:ident $id:ident $criticality:ident;)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            pub(crate) fn read_ies(
                r: &mut $crate::aper::Reader<'_>,
                version: $crate::e2ap::Version,
            ) -> Result<Self, $crate::aper::DecodeError> {
                use $crate::{aper::Locate, e2ap::{container, ids, values}};
                $(let mut $field = None;)*
                container::read_container(r, |id, r| {
                    $(if Some(id) == ids::$id.in_version(version) {
                        return container::fill(&mut $field, r, |r| values::$encoding.read(r, version))
                            .at(ids::$id.name);
                    })*
                    Ok(false)
                })?;
                let mut missing = Vec::new();
                $(let $field = container::$presence::settle($field, &ids::$id, version, &mut missing);)*
                match ($($field,)*) {
                    ($(Some($field),)*) => Ok($name { $($field),* }),
                    _ => Err(r.error($crate::aper::DecodeErrorKind::MissingIes(missing))),
                }
            }

            pub(crate) fn write_ies(
                &self,
                w: &mut $crate::aper::Writer,
                version: $crate::e2ap::Version,
            ) -> Result<(), $crate::aper::EncodeError> {
                use $crate::{aper::{Criticality, Locate}, e2ap::{container, ids, values}};
                $(let $field = container::$presence::present(&self.$field).zip(ids::$id.in_version(version));)*
                let count = [$($field.is_some()),*].into_iter().filter(|present| *present).count();
                w.constrained(count as u64, 0, 65535)?;
                $(if let Some((value, id)) = $field {
                    container::write_ie(w, id, Criticality::$criticality, |w| values::$encoding.write(value, w, version))
                        .at(ids::$id.name)?;
                })*
                Ok(())
            }
        }
    };
}
pub(crate) use message;
