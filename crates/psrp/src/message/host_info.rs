//! Description of the client's host.

use crate::Error;
use crate::host::{ConsoleColor, Coordinates, Size};
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, object_struct};
use crate::value::{Object, PsString, Value};

object_struct! {
    /// The parts of a host that the client implements (MS-PSRP 2.2.3.14).
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostInfo {
        /// Whether there is no host.
        pub is_host_null: bool => "_isHostNull" [or true],
        /// Whether there is no user interface.
        pub is_host_ui_null: bool => "_isHostUINull" [or true],
        /// Whether there is no console.
        pub is_host_raw_ui_null: bool => "_isHostRawUINull" [or true],
        /// Whether a pipeline uses the host of its runspace.
        pub use_runspace_host: bool => "_useRunspaceHost" [or true],
        /// Console properties that the server can use without calling the host.
        pub default_data: Option<HostDefaultData> => "_hostDefaultData" [optional],
    }
}

impl HostInfo {
    /// Creates the description of no host. A pipeline then uses the host of its pool.
    pub fn none() -> Self {
        Self {
            is_host_null: true,
            is_host_ui_null: true,
            is_host_raw_ui_null: true,
            use_runspace_host: true,
            default_data: None,
        }
    }

    /// Creates the description of a host that reads and writes lines, without a console.
    pub fn lines() -> Self {
        Self { is_host_null: false, is_host_ui_null: false, use_runspace_host: false, ..Self::none() }
    }

    /// Creates the description of a host with a console.
    pub fn console(default_data: HostDefaultData) -> Self {
        Self { is_host_raw_ui_null: false, default_data: Some(default_data), ..Self::lines() }
    }
}

impl Default for HostInfo {
    fn default() -> Self {
        Self::none()
    }
}

/// Defines [`HostDefaultData`] from rows of documentation, number, name and type on the wire, and default.
macro_rules! host_default_data {
    ($($(#[$doc:meta])* $number:literal: $field:ident: $type:ty as $type_name:literal = $default:expr;)*) => {
        /// Properties of the client's console when the pool is opened (part of MS-PSRP 2.2.3.14). The default is a window
        /// of 120 by 50 characters, gray on black.
        #[derive(Clone, Debug, PartialEq)]
        pub struct HostDefaultData {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for HostDefaultData {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl HostDefaultData {
            fn entries(&self) -> Value {
                Object::dictionary([$(($number, typed($type_name, &self.$field))),*]).into()
            }

            /// Sets the property with this number; unknown numbers are ignored.
            fn set(&mut self, number: i32, mut from: MemberReader<'_, '_>) -> Result<(), Error> {
                match number {
                    $($number => if let Some(value) = from.optional("V")? { self.$field = value },)*
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

const WINDOW: Size = Size { width: 120, height: 50 };

host_default_data! {
    /// Text colour.
    0: foreground_color: ConsoleColor as "System.ConsoleColor" = ConsoleColor::Gray;
    /// Background colour.
    1: background_color: ConsoleColor as "System.ConsoleColor" = ConsoleColor::Black;
    /// Cursor position in the buffer.
    2: cursor_position: Coordinates as "System.Management.Automation.Host.Coordinates" = Coordinates::default();
    /// Position of the window in the buffer.
    3: window_position: Coordinates as "System.Management.Automation.Host.Coordinates" = Coordinates::default();
    /// Cursor size in percent of a cell.
    4: cursor_size: i32 as "System.Int32" = 25;
    /// Size of the buffer.
    5: buffer_size: Size as "System.Management.Automation.Host.Size" = Size { width: 120, height: 3000 };
    /// Size of the window.
    6: window_size: Size as "System.Management.Automation.Host.Size" = WINDOW;
    /// Maximum size of the window with this buffer.
    7: max_window_size: Size as "System.Management.Automation.Host.Size" = WINDOW;
    /// Maximum size of the window on this screen.
    8: max_physical_window_size: Size as "System.Management.Automation.Host.Size" = WINDOW;
    /// Title of the window.
    9: window_title: PsString as "System.String" = PsString::default();
}

/// A dictionary from numbers to objects with a type name and a value. Missing keys keep their defaults.
impl Field for HostDefaultData {
    fn write(&self) -> Value {
        let mut out = MemberWriter::default();
        out.put("data", &self.entries());
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let data: Value = from.required("data")?;
        let entries = data.entries().ok_or_else(|| Error::mismatch("not a dictionary").at("data"))?;
        let mut read = Self::default();
        for (index, (key, value)) in entries.iter().enumerate() {
            i32::read(key, budget)
                .and_then(|number| read.set(number, MemberReader::new(value, budget)?))
                .map_err(|error| error.at(index).at("data"))?;
        }
        Ok(read)
    }
}

/// Creates an object with a type name and a value.
fn typed(type_name: &'static str, value: &impl Field) -> Value {
    let mut out = MemberWriter::default();
    out.put("T", &PsString::from_static(type_name));
    out.put("V", value);
    out.finish()
}
