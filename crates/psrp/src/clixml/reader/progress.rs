//! Progress records inside other values, `<PR>` (MS-PSRP 2.2.5.1.25). Their elements have special names.

use quick_xml::events::Event;

use super::primitive::integer;
use super::source::Source;
use super::text::Text;
use crate::Error;
use crate::value::{Progress, PsString};

/// Reads the record whose start tag was just read.
///
/// The elements may be in any order, and later ones replace earlier ones. All are required except the current
/// operation.
pub(super) fn record(source: &mut Source<'_>) -> Result<Progress, Error> {
    let mut fields = Fields::default();
    loop {
        let event = source.next()?;
        let at = source.offset();
        match event {
            Event::Start(start) => {
                let text = source.text()?;
                fields.set(start.name().as_ref(), text, source).map_err(|error| error.or_offset(at))?;
            }
            Event::Empty(start) => {
                let text = Text::Raw("");
                fields.set(start.name().as_ref(), text, source).map_err(|error| error.or_offset(at))?;
            }
            Event::End(_) => {
                return fields.record().ok_or_else(|| source.structure("an incomplete progress record"));
            }
            event => source.expect_blank(&event)?,
        }
    }
}

#[derive(Default)]
struct Fields {
    activity: Option<PsString>,
    activity_id: Option<i32>,
    status_description: Option<PsString>,
    current_operation: Option<PsString>,
    parent_activity_id: Option<i32>,
    percent_complete: Option<i32>,
    completed: Option<bool>,
    seconds_remaining: Option<i32>,
}

impl Fields {
    fn set(&mut self, name: &str, text: Text<'_>, source: &Source<'_>) -> Result<(), Error> {
        let number = |text: &Text<'_>| integer(text.plain()?.trim()).map(Some);
        match name {
            "AV" => self.activity = Some(text.into_string()),
            "AI" => self.activity_id = number(&text)?,
            "S" => self.current_operation = Some(text.into_string()),
            "Nil" => self.current_operation = None,
            "PI" => self.parent_activity_id = number(&text)?,
            "PC" => self.percent_complete = number(&text)?,
            "T" => {
                self.completed = Some(match text.plain()? {
                    name if name.eq_ignore_ascii_case("Processing") => false,
                    name if name.eq_ignore_ascii_case("Completed") => true,
                    _ => return Err(source.structure("an unknown type of progress record")),
                });
            }
            "SR" => self.seconds_remaining = number(&text)?,
            "SD" => self.status_description = Some(text.into_string()),
            _ => return Err(source.structure("an unknown element in a progress record")),
        }
        Ok(())
    }

    fn record(self) -> Option<Progress> {
        Some(Progress {
            activity: self.activity?,
            activity_id: self.activity_id?,
            status_description: self.status_description?,
            current_operation: self.current_operation,
            parent_activity_id: self.parent_activity_id?,
            percent_complete: self.percent_complete?,
            completed: self.completed?,
            seconds_remaining: self.seconds_remaining?,
        })
    }
}
