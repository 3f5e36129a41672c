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

/// Properties of the client's console when the pool is opened (part of MS-PSRP 2.2.3.14). The default is a window of
/// 120 by 50 characters, gray on black.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDefaultData {
    /// Text colour.
    pub foreground_color: ConsoleColor,
    /// Background colour.
    pub background_color: ConsoleColor,
    /// Cursor position in the buffer.
    pub cursor_position: Coordinates,
    /// Position of the window in the buffer.
    pub window_position: Coordinates,
    /// Cursor size in percent of a cell.
    pub cursor_size: i32,
    /// Size of the buffer.
    pub buffer_size: Size,
    /// Size of the window.
    pub window_size: Size,
    /// Maximum size of the window with this buffer.
    pub max_window_size: Size,
    /// Maximum size of the window on this screen.
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

/// A dictionary from numbers to objects with a type name and a value. Missing keys keep their defaults.
impl Field for HostDefaultData {
    fn write(&self) -> Value {
        const COLOR: &str = "System.ConsoleColor";
        const COORDINATES: &str = "System.Management.Automation.Host.Coordinates";
        const SIZE: &str = "System.Management.Automation.Host.Size";
        let entries = [
            (0, typed(COLOR, &self.foreground_color)),
            (1, typed(COLOR, &self.background_color)),
            (2, typed(COORDINATES, &self.cursor_position)),
            (3, typed(COORDINATES, &self.window_position)),
            (4, typed("System.Int32", &self.cursor_size)),
            (5, typed(SIZE, &self.buffer_size)),
            (6, typed(SIZE, &self.window_size)),
            (7, typed(SIZE, &self.max_window_size)),
            (8, typed(SIZE, &self.max_physical_window_size)),
            (9, typed("System.String", &self.window_title)),
        ];
        let mut out = MemberWriter::default();
        out.put("data", &Value::from(Object::dictionary(entries)));
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let data: Value = from.required("data")?;
        let entries = data.entries().ok_or_else(|| Error::mismatch("not a dictionary").at("data"))?;
        let mut read = Self::default();
        for (index, (key, value)) in entries.iter().enumerate() {
            read.set(key, value, budget).map_err(|error| error.at(index).at("data"))?;
        }
        Ok(read)
    }
}

impl HostDefaultData {
    /// Sets the property with this number; unknown numbers are ignored.
    fn set(&mut self, key: &Value, value: &Value, budget: &mut CopyBudget) -> Result<(), Error> {
        fn assign<T: Field>(field: &mut T, mut from: MemberReader<'_, '_>) -> Result<(), Error> {
            if let Some(value) = from.optional("V")? {
                *field = value;
            }
            Ok(())
        }

        let number = i32::read(key, budget)?;
        let from = MemberReader::new(value, budget)?;
        match number {
            0 => assign(&mut self.foreground_color, from),
            1 => assign(&mut self.background_color, from),
            2 => assign(&mut self.cursor_position, from),
            3 => assign(&mut self.window_position, from),
            4 => assign(&mut self.cursor_size, from),
            5 => assign(&mut self.buffer_size, from),
            6 => assign(&mut self.window_size, from),
            7 => assign(&mut self.max_window_size, from),
            8 => assign(&mut self.max_physical_window_size, from),
            9 => assign(&mut self.window_title, from),
            _ => Ok(()),
        }
    }
}

/// Creates an object with a type name and a value.
fn typed(type_name: &'static str, value: &impl Field) -> Value {
    let mut out = MemberWriter::default();
    out.put("T", &PsString::from_static(type_name));
    out.put("V", value);
    out.finish()
}
