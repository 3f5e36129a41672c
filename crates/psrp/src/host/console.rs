//! Places, sizes, keys and colours of a console.

use crate::shape::{enumeration, flags, object_struct as bag, open_enum};
use crate::value::{Object, TypeNames};

open_enum! {
    /// A colour of the console (`System.ConsoleColor`, MS-PSRP 2.2.3.3).
    #[derive(Default)]
    pub enum ConsoleColor {
        /// Black.
        #[default]
        Black = 0,
        /// Dark blue.
        DarkBlue = 1,
        /// Dark green.
        DarkGreen = 2,
        /// Dark cyan.
        DarkCyan = 3,
        /// Dark red.
        DarkRed = 4,
        /// Dark magenta.
        DarkMagenta = 5,
        /// Dark yellow.
        DarkYellow = 6,
        /// Light gray.
        Gray = 7,
        /// Dark gray.
        DarkGray = 8,
        /// Blue.
        Blue = 9,
        /// Green.
        Green = 10,
        /// Cyan.
        Cyan = 11,
        /// Red.
        Red = 12,
        /// Magenta.
        Magenta = 13,
        /// Yellow.
        Yellow = 14,
        /// White.
        White = 15,
    }
}

impl ConsoleColor {
    const TYPE_NAME: &'static str = "System.ConsoleColor";

    /// The object that it is outside of host calls.
    pub(crate) fn to_enumeration(self) -> Object {
        let names = [Self::TYPE_NAME, "System.Enum", "System.ValueType", "System.Object"];
        enumeration(&TypeNames::new(names), self.to_string(), self.number())
    }
}

bag! {
    /// A place in the buffer of the console (`System.Management.Automation.Host.Coordinates`, MS-PSRP 2.2.3.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Coordinates {
        /// Column, counted from 0.
        pub x: i32 => "x",
        /// Row, counted from 0.
        pub y: i32 => "y",
    }
}

bag! {
    /// A size in characters (`System.Management.Automation.Host.Size`, MS-PSRP 2.2.3.2).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Size {
        /// Columns.
        pub width: i32 => "width",
        /// Rows.
        pub height: i32 => "height",
    }
}

bag! {
    /// A part of the buffer, with all four edges in it (`System.Management.Automation.Host.Rectangle`).
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
    /// Modifier keys and locks that are on with a key (`System.Management.Automation.Host.ControlKeyStates`, MS-PSRP
    /// 2.2.3.27).
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
        /// One of the keys beside the main block.
        ENHANCED_KEY = 256 "EnhancedKey",
    }
}

flags! {
    /// Which keys [`ReadKey`](super::HostRequest::ReadKey) waits for and how
    /// (`System.Management.Automation.Host.ReadKeyOptions`).
    #[derive(Default)]
    pub struct ReadKeyOptions {
        /// Ctrl+C is a key like others.
        ALLOW_CTRL_C = 1 "AllowCtrlC",
        /// The character is not shown.
        NO_ECHO = 2 "NoEcho",
        /// Pressing a key counts.
        INCLUDE_KEY_DOWN = 4 "IncludeKeyDown",
        /// Releasing a key counts.
        INCLUDE_KEY_UP = 8 "IncludeKeyUp",
    }
}

bag! {
    /// A key that was pressed or released (`System.Management.Automation.Host.KeyInfo`, MS-PSRP 2.2.3.26).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct KeyInfo {
        /// Code of the key, independent of the keyboard.
        pub virtual_key_code: i32 => "virtualKeyCode",
        /// The character as a UTF-16 code unit, 0 for none.
        pub character: u16 => "character",
        /// Modifiers and locks.
        pub control_key_state: ControlKeyStates => "controlKeyState",
        /// Whether it was pressed, not released.
        pub key_down: bool => "keyDown",
    }
}
