//! Methods of a host, their identifiers, parameters and result types.

use super::call::Shape;
use super::{
    BufferCell, CellBuffer, ChoiceDescription, ConsoleColor, Coordinates, CredentialTypes,
    CredentialUiOptions, FieldDescription, ReadKeyOptions, Rectangle, Size,
};
use crate::Error;
use crate::shape::{CopyBudget, Field, open_enum};
use crate::value::{Progress, PsString, Value};

/// Defines [`HostMethod`] and [`HostRequest`]. A row has documentation, name, identifier, parameters and result type.
macro_rules! host_methods {
    ($(
        $(#[$attr:meta])*
        $method:ident = $number:literal $(($($parameter:ident: $type:ty),* $(,)?))? => $shape:ident;
    )*) => {
        open_enum! {
            /// A method of a host (`System.Management.Automation.Remoting.RemoteHostMethodId`, MS-PSRP 2.2.3.17).
            pub enum HostMethod as "System.Management.Automation.Remoting.RemoteHostMethodId" {
                $($(#[$attr])* $method = $number,)*
            }
        }

        impl HostMethod {
            pub(super) const fn shape(self) -> Shape {
                match self {
                    $(Self::$method => Shape::$shape,)*
                    Self::Other(_) => Shape::Other,
                }
            }
        }

        /// A host method with its parameters.
        ///
        /// Texts and lists that are `$null` are read as empty.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the names of the parameters say it")]
        pub enum HostRequest {
            $($(#[$attr])* $method $({ $($parameter: $type,)* })?,)*
            /// Unknown method.
            Other {
                /// Identifier of the method.
                method: i32,
                /// Untyped parameters.
                parameters: Vec<Value>,
            },
        }

        impl HostRequest {
            /// Returns the method.
            pub const fn method(&self) -> HostMethod {
                match self {
                    $(Self::$method $({ $($parameter: _,)* })? => HostMethod::$method,)*
                    Self::Other { method, .. } => HostMethod::from_number(*method),
                }
            }

            /// Returns the untyped parameters.
            pub fn to_parameters(&self) -> Vec<Value> {
                match self {
                    $(Self::$method $({ $($parameter,)* })? => vec![$($($parameter.write(),)*)?],)*
                    Self::Other { parameters, .. } => parameters.clone(),
                }
            }

            pub(super) fn read(
                method: HostMethod,
                parameters: &[Value],
                budget: &mut CopyBudget,
            ) -> Result<Self, Error> {
                #[allow(unused_mut, unused_variables, reason = "for methods without parameters")]
                let mut from = Parameters { left: parameters.iter().enumerate(), count: parameters.len(), budget };
                Ok(match method {
                    $(HostMethod::$method => Self::$method $({ $($parameter: from.next()?,)* })?,)*
                    HostMethod::Other(method) => {
                        Self::Other { method, parameters: parameters.iter().map(|value| Value::read(value, from.budget)).collect::<Result<_, _>>()? }
                    }
                })
            }
        }
    };
}

host_methods! {
    /// Returns the name of the host.
    GetName = 1 => Text;
    /// Returns the version of the host.
    GetVersion = 2 => Version;
    /// Returns the identifier of the host instance.
    GetInstanceId = 3 => Guid;
    /// Returns the name of the culture, such as `en-US`.
    GetCurrentCulture = 4 => Text;
    /// Returns the name of the user interface culture.
    GetCurrentUICulture = 5 => Text;
    /// Asks the host to exit with this exit code.
    SetShouldExit = 6(exit_code: i32) => Nothing;
    /// Starts a nested prompt.
    EnterNestedPrompt = 7 => Nothing;
    /// Ends the nested prompt.
    ExitNestedPrompt = 8 => Nothing;
    /// Notifies the host that a console program starts.
    NotifyBeginApplication = 9 => Nothing;
    /// Notifies the host that the console program has ended.
    NotifyEndApplication = 10 => Nothing;
    /// Reads a line from the user.
    ReadLine = 11 => Text;
    /// Reads a line without showing it.
    ReadLineAsSecureString = 12 => Secure;
    /// Writes text.
    Write1 = 13(text: PsString) => Nothing;
    /// Writes coloured text.
    Write2 = 14(foreground: ConsoleColor, background: ConsoleColor, text: PsString) => Nothing;
    /// Writes a line end.
    WriteLine1 = 15 => Nothing;
    /// Writes a line.
    WriteLine2 = 16(text: PsString) => Nothing;
    /// Writes a coloured line.
    WriteLine3 = 17(foreground: ConsoleColor, background: ConsoleColor, text: PsString) => Nothing;
    /// Writes an error.
    WriteErrorLine = 18(text: PsString) => Nothing;
    /// Writes a debug message.
    WriteDebugLine = 19(text: PsString) => Nothing;
    /// Shows a progress record of the source with this identifier.
    WriteProgress = 20(source_id: i64, record: Box<Progress>) => Nothing;
    /// Writes a verbose message.
    WriteVerboseLine = 21(text: PsString) => Nothing;
    /// Writes a warning.
    WriteWarningLine = 22(text: PsString) => Nothing;
    /// Asks the user for several values.
    Prompt = 23(caption: PsString, message: PsString, fields: Vec<FieldDescription>) => Answers;
    /// Asks the user for a credential for a target. `user_name` is the initial user name.
    PromptForCredential1 = 24(
        caption: PsString,
        message: PsString,
        user_name: PsString,
        target_name: PsString,
    ) => Credential;
    /// Like `PromptForCredential1`, with the accepted kinds of credentials and options of the prompt.
    PromptForCredential2 = 25(
        caption: PsString,
        message: PsString,
        user_name: PsString,
        target_name: PsString,
        allowed: CredentialTypes,
        options: CredentialUiOptions,
    ) => Credential;
    /// Asks the user for one of several choices. The default choice is an index, -1 for none.
    PromptForChoice = 26(
        caption: PsString,
        message: PsString,
        choices: Vec<ChoiceDescription>,
        default_choice: i32,
    ) => Number;
    /// Returns the text colour.
    GetForegroundColor = 27 => Color;
    /// Sets the text colour.
    SetForegroundColor = 28(color: ConsoleColor) => Nothing;
    /// Returns the background colour.
    GetBackgroundColor = 29 => Color;
    /// Sets the background colour.
    SetBackgroundColor = 30(color: ConsoleColor) => Nothing;
    /// Returns the cursor position.
    GetCursorPosition = 31 => Coordinates;
    /// Moves the cursor.
    SetCursorPosition = 32(position: Coordinates) => Nothing;
    /// Returns the position of the window in the buffer.
    GetWindowPosition = 33 => Coordinates;
    /// Moves the window in the buffer.
    SetWindowPosition = 34(position: Coordinates) => Nothing;
    /// Returns the cursor size in percent of a cell.
    GetCursorSize = 35 => Number;
    /// Sets the size of the cursor, in percent of a cell.
    SetCursorSize = 36(size: i32) => Nothing;
    /// Returns the size of the buffer.
    GetBufferSize = 37 => Size;
    /// Sets the size of the buffer.
    SetBufferSize = 38(size: Size) => Nothing;
    /// Returns the size of the window.
    GetWindowSize = 39 => Size;
    /// Sets the size of the window.
    SetWindowSize = 40(size: Size) => Nothing;
    /// Returns the window title.
    GetWindowTitle = 41 => Text;
    /// Sets the window title.
    SetWindowTitle = 42(title: PsString) => Nothing;
    /// Returns the maximum size of the window with the current buffer.
    GetMaxWindowSize = 43 => Size;
    /// Returns the maximum size of the window on the screen.
    GetMaxPhysicalWindowSize = 44 => Size;
    /// Returns whether a key is available.
    GetKeyAvailable = 45 => Bool;
    /// Reads a key.
    ReadKey = 46(options: ReadKeyOptions) => Key;
    /// Discards pending keys.
    FlushInputBuffer = 47 => Nothing;
    /// Fills a rectangle of the buffer with a cell.
    SetBufferContents1 = 48(rectangle: Rectangle, fill: BufferCell) => Nothing;
    /// Writes cells into the buffer, the first one at `origin`.
    SetBufferContents2 = 49(origin: Coordinates, contents: CellBuffer) => Nothing;
    /// Returns cells of the buffer. PowerShell does not allow this remotely.
    GetBufferContents = 50(rectangle: Rectangle) => Cells;
    /// Moves a rectangle of the buffer and fills the vacated area. Modifies only cells inside of `clip`.
    ScrollBufferContents = 51(
        source: Rectangle,
        destination: Coordinates,
        clip: Rectangle,
        fill: BufferCell,
    ) => Nothing;
    /// Enters another runspace. Not usable remotely.
    PushRunspace = 52(runspace: Value) => Nothing;
    /// Leaves the entered runspace.
    PopRunspace = 53 => Nothing;
    /// Returns whether another runspace was entered.
    GetIsRunspacePushed = 54 => Bool;
    /// Returns the runspace, which cannot be serialized.
    GetRunspace = 55 => Other;
    /// Asks the user for any number of choices. The default choices are indexes.
    PromptForChoiceMultipleSelection = 56(
        caption: PsString,
        message: PsString,
        choices: Vec<ChoiceDescription>,
        default_choices: Vec<i32>,
    ) => Choices;
}

impl HostMethod {
    /// Returns whether the method has no result, so that a call of it has no response.
    pub const fn is_void(self) -> bool {
        matches!(self.shape(), Shape::Nothing)
    }
}

struct Parameters<'a, 'b> {
    left: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
    count: usize,
    budget: &'b mut CopyBudget,
}

impl Parameters<'_, '_> {
    fn next<T: Field>(&mut self) -> Result<T, Error> {
        let Some((index, value)) = self.left.next() else {
            return Err(Error::mismatch("missing").at(self.count));
        };
        if value.is_nil()
            && let Some(empty) = T::from_nil()
        {
            return Ok(empty);
        }
        T::read(value, self.budget).map_err(|error| error.at(index))
    }
}
