//! What a server is told about the client's host.

use crate::host::{ConsoleColor, Coordinates, Size};
use crate::shape::{CopyBudget, Field, Mismatch, MemberReader, MemberWriter, object_struct};
use crate::value::{Object, PsString, Value};

object_struct! {
    /// Which parts of a host the client has (MS-PSRP 2.2.3.14).
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostInfo {
        /// Whether there is no host.
        pub is_host_null: bool => "_isHostNull" [or true],
        /// Whether there is no user interface.
        pub is_host_ui_null: bool => "_isHostUINull" [or true],
        /// Whether there is no console.
        pub is_host_raw_ui_null: bool => "_isHostRawUINull" [or true],
        /// Whether a pipeline has the host of its runspace.
        pub use_runspace_host: bool => "_useRunspaceHost" [or true],
        /// What the server may answer by itself about the console.
        pub default_data: Option<HostDefaultData> => "_hostDefaultData" [optional],
    }
}

impl HostInfo {
    /// No host. A pipeline then has that of its pool.
    pub fn none() -> Self {
        Self {
            is_host_null: true,
            is_host_ui_null: true,
            is_host_raw_ui_null: true,
            use_runspace_host: true,
            default_data: None,
        }
    }

    /// A host that reads and writes lines, without a console.
    pub fn lines() -> Self {
        Self { is_host_null: false, is_host_ui_null: false, use_runspace_host: false, ..Self::none() }
    }

    /// A host with a console.
    pub fn console(default_data: HostDefaultData) -> Self {
        Self { is_host_raw_ui_null: false, default_data: Some(default_data), ..Self::lines() }
    }
}

impl Default for HostInfo {
    fn default() -> Self {
        Self::none()
    }
}

/// The console of a client as it is when the pool is opened (a part of MS-PSRP 2.2.3.14). The default is a window of
/// 120 by 50 characters, gray on black.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDefaultData {
    /// Colour of text.
    pub foreground_color: ConsoleColor,
    /// Colour behind text.
    pub background_color: ConsoleColor,
    /// Where the cursor is.
    pub cursor_position: Coordinates,
    /// Which part of the buffer the window shows.
    pub window_position: Coordinates,
    /// Size of the cursor in percent of a cell.
    pub cursor_size: i32,
    /// Size of the buffer.
    pub buffer_size: Size,
    /// Size of the window.
    pub window_size: Size,
    /// Largest size of the window with this buffer.
    pub max_window_size: Size,
    /// Largest size of the window on this screen.
    pub max_physical_window_size: Size,
    /// Title of the window.
    pub window_title: PsString,
}

impl Default for HostDefaultData {
    fn default() -> Self {
        let window = Size { width: 120, height: 50 };
        Self {
            foreground_color: ConsoleColor::Gray,
            background_color: ConsoleColor::Black,
            cursor_position: Coordinates::default(),
            window_position: Coordinates::default(),
            cursor_size: 25,
            buffer_size: Size { width: 120, height: 3000 },
            window_size: window,
            max_window_size: window,
            max_physical_window_size: window,
            window_title: PsString::default(),
        }
    }
}

/// Calls a macro with the fields: the number that each has as a key, and the name of its type.
macro_rules! fields {
    ($then:ident!($($context:tt)*)) => {
        $then! { ($($context)*)
            0 foreground_color "System.ConsoleColor";
            1 background_color "System.ConsoleColor";
            2 cursor_position "System.Management.Automation.Host.Coordinates";
            3 window_position "System.Management.Automation.Host.Coordinates";
            4 cursor_size "System.Int32";
            5 buffer_size "System.Management.Automation.Host.Size";
            6 window_size "System.Management.Automation.Host.Size";
            7 max_window_size "System.Management.Automation.Host.Size";
            8 max_physical_window_size "System.Management.Automation.Host.Size";
            9 window_title "System.String";
        }
    };
}

/// A dictionary of numbers and pairs of type name and value. A key that is missing has its default.
impl Field for HostDefaultData {
    fn write(&self) -> Value {
        macro_rules! entries {
            (($self:ident) $($key:literal $field:ident $type:literal;)*) => {
                [$(($key, typed($type, &$self.$field))),*]
            };
        }
        let mut out = MemberWriter::default();
        out.put("data", &Value::from(Object::dictionary(fields!(entries!(self)))));
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let mut from = MemberReader::new(value, budget)?;
        let data: Value = from.required("data")?;
        let entries = data.entries().ok_or_else(|| Mismatch::new("is no dictionary").in_member("data"))?;
        let mut read = Self::default();
        macro_rules! assign {
            (($key:ident, $from:ident, $read:ident) $($number:literal $field:ident $type:literal;)*) => {
                match $key {
                    $($number => if let Some(value) = $from.optional("V")? { $read.$field = value },)*
                    _ => {}
                }
            };
        }
        for (index, (key, value)) in entries.iter().enumerate() {
            let mut entry = || -> Result<(), Mismatch> {
                let number = i32::read(key, budget)?;
                let mut from = MemberReader::new(value, budget)?;
                fields!(assign!(number, from, read));
                Ok(())
            };
            entry().map_err(|mismatch| mismatch.in_item(index).in_member("data"))?;
        }
        Ok(read)
    }
}

fn typed(type_name: &'static str, value: &impl Field) -> Value {
    let mut out = MemberWriter::default();
    out.put("T", &PsString::from_static(type_name));
    out.put("V", value);
    out.finish()
}
