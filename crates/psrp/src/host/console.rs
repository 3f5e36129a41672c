//! Console geometry, keys, colours and cells of the screen buffer.

use crate::Error;
use crate::shape::{
    CopyBudget, Field, MemberReader, MemberWriter, enumeration, flags, object_struct, open_enum,
};
use crate::value::{Object, TypeNames, Value};

open_enum! {
    /// A colour of the console (`System.ConsoleColor`, MS-PSRP 2.2.3.3).
    #[derive(Default)]
    #[allow(missing_docs, reason = "the names of the colours say it")]
    pub enum ConsoleColor {
        #[default]
        Black = 0,
        DarkBlue = 1,
        DarkGreen = 2,
        DarkCyan = 3,
        DarkRed = 4,
        DarkMagenta = 5,
        DarkYellow = 6,
        Gray = 7,
        DarkGray = 8,
        Blue = 9,
        Green = 10,
        Cyan = 11,
        Red = 12,
        Magenta = 13,
        Yellow = 14,
        White = 15,
    }
}

impl ConsoleColor {
    const TYPE_NAME: &'static str = "System.ConsoleColor";

    /// Converts to the enumeration object used outside of host calls.
    pub(crate) fn to_enumeration(self) -> Object {
        let names = [Self::TYPE_NAME, "System.Enum", "System.ValueType", "System.Object"];
        enumeration(&TypeNames::new(names), self.to_string(), self.number())
    }
}

object_struct! {
    /// Position in the screen buffer (`System.Management.Automation.Host.Coordinates`, MS-PSRP 2.2.3.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Coordinates {
        /// Column, counted from 0.
        pub x: i32 => "x",
        /// Row, counted from 0.
        pub y: i32 => "y",
    }
}

object_struct! {
    /// Size in character cells (`System.Management.Automation.Host.Size`, MS-PSRP 2.2.3.2).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Size {
        /// Columns.
        pub width: i32 => "width",
        /// Rows.
        pub height: i32 => "height",
    }
}

object_struct! {
    /// Rectangle of the screen buffer, all four edges inclusive (`System.Management.Automation.Host.Rectangle`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Rectangle {
        /// First column.
        pub left: i32 => "left",
        /// First row.
        pub top: i32 => "top",
        /// Last column.
        pub right: i32 => "right",
        /// Last row.
        pub bottom: i32 => "bottom",
    }
}

flags! {
    /// Pressed modifier keys and active locks (`System.Management.Automation.Host.ControlKeyStates`, MS-PSRP 2.2.3.27).
    #[derive(Default)]
    pub struct ControlKeyStates {
        /// Right Alt.
        RIGHT_ALT = 1 "RightAltPressed",
        /// Left Alt.
        LEFT_ALT = 2 "LeftAltPressed",
        /// Right Ctrl.
        RIGHT_CTRL = 4 "RightCtrlPressed",
        /// Left Ctrl.
        LEFT_CTRL = 8 "LeftCtrlPressed",
        /// Shift.
        SHIFT = 16 "ShiftPressed",
        /// Num Lock is on.
        NUM_LOCK = 32 "NumLockOn",
        /// Scroll Lock is on.
        SCROLL_LOCK = 64 "ScrollLockOn",
        /// Caps Lock is on.
        CAPS_LOCK = 128 "CapsLockOn",
        /// The key is not in the main block of the keyboard.
        ENHANCED_KEY = 256 "EnhancedKey",
    }
}

flags! {
    /// Options of [`ReadKey`](super::HostRequest::ReadKey) (`System.Management.Automation.Host.ReadKeyOptions`).
    #[derive(Default)]
    pub struct ReadKeyOptions {
        /// Return Ctrl+C as a key instead of interrupting.
        ALLOW_CTRL_C = 1 "AllowCtrlC",
        /// Do not echo the character.
        NO_ECHO = 2 "NoEcho",
        /// Return when a key is pressed.
        INCLUDE_KEY_DOWN = 4 "IncludeKeyDown",
        /// Return when a key is released.
        INCLUDE_KEY_UP = 8 "IncludeKeyUp",
    }
}

object_struct! {
    /// A key that was pressed or released (`System.Management.Automation.Host.KeyInfo`, MS-PSRP 2.2.3.26).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct KeyInfo {
        /// Virtual key code, independent of the keyboard layout.
        pub virtual_key_code: i32 => "virtualKeyCode",
        /// Character as a UTF-16 code unit, 0 for none.
        pub character: u16 => "character",
        /// Modifiers and locks.
        pub control_key_state: ControlKeyStates => "controlKeyState",
        /// Whether the key was pressed; otherwise it was released.
        pub key_down: bool => "keyDown",
    }
}

open_enum! {
    /// Part of a character that a cell shows: characters take one cell or two
    /// (`System.Management.Automation.Host.BufferCellType`, MS-PSRP 2.2.3.29).
    #[derive(Default)]
    pub enum BufferCellType {
        /// The whole character.
        #[default]
        Complete = 0,
        /// The left half.
        Leading = 1,
        /// The right half.
        Trailing = 2,
    }
}

object_struct! {
    /// A cell of the screen buffer (`System.Management.Automation.Host.BufferCell`, MS-PSRP 2.2.3.28).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct BufferCell {
        /// The character as a UTF-16 code unit.
        pub character: u16 => "character",
        /// Colour of the character.
        pub foreground_color: ConsoleColor => "foregroundColor",
        /// Background colour.
        pub background_color: ConsoleColor => "backgroundColor",
        /// Part of the character that the cell shows.
        pub buffer_cell_type: BufferCellType => "bufferCellType" [or BufferCellType::Complete],
    }
}

/// Rectangle of cells in row-major order (`System.Management.Automation.Host.BufferCell[,]`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellBuffer {
    cells: Vec<BufferCell>,
    rows: usize,
    columns: usize,
}

impl CellBuffer {
    /// Creates a rectangle from its cells in row-major order.
    ///
    /// # Errors
    ///
    /// Fails if the number of cells is not rows times columns ([`Error::is_mismatch`]).
    pub fn new(rows: usize, columns: usize, cells: Vec<BufferCell>) -> Result<Self, Error> {
        if rows.checked_mul(columns) != Some(cells.len())
            || [rows, columns].iter().any(|n| i32::try_from(*n).is_err())
        {
            return Err(Error::mismatch(Self::LENGTH));
        }
        Ok(Self { cells, rows, columns })
    }

    const LENGTH: &'static str = "the number of cells is not rows times columns";

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of cells per row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns all cells in row-major order.
    pub fn cells(&self) -> &[BufferCell] {
        &self.cells
    }

    /// Returns the cell at a row and column, counted from 0.
    pub fn get(&self, row: usize, column: usize) -> Option<&BufferCell> {
        if column >= self.columns {
            return None;
        }
        self.cells.get(row.checked_mul(self.columns)?.checked_add(column)?)
    }
}

/// Encoded as a two-dimensional array: the elements, then the dimensions.
impl Field for CellBuffer {
    fn write(&self) -> Value {
        let length = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let mut out = MemberWriter::default();
        out.put("mae", &self.cells);
        out.put("mal", &vec![length(self.rows), length(self.columns)]);
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let mut from = MemberReader::new(value, budget)?;
        let cells: Vec<BufferCell> = from.required("mae")?;
        let lengths: Vec<i32> = from.required("mal")?;
        let lengths: Vec<usize> = lengths.into_iter().filter_map(|length| length.try_into().ok()).collect();
        match lengths[..] {
            [rows, columns] if rows.checked_mul(columns) == Some(cells.len()) => {
                Ok(Self { cells, rows, columns })
            }
            _ => Err(Error::mismatch(Self::LENGTH)),
        }
    }
}
