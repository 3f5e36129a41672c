//! Table of host methods: names, identifiers, parameters and result types.

/// Passes the table to a macro. A row has documentation, name, identifier, parameters and result type.
macro_rules! methods {
    ($then:ident) => {
        $then! {
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
            /// Asks the host to exit.
            SetShouldExit = 6 {
                /// Exit code.
                exit_code: i32,
            } => Nothing;
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
            Write1 = 13 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes coloured text.
            Write2 = 14 {
                /// Colour of the text.
                foreground: ConsoleColor,
                /// Background colour.
                background: ConsoleColor,
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes a line end.
            WriteLine1 = 15 => Nothing;
            /// Writes a line.
            WriteLine2 = 16 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes a coloured line.
            WriteLine3 = 17 {
                /// Colour of the text.
                foreground: ConsoleColor,
                /// Background colour.
                background: ConsoleColor,
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes an error.
            WriteErrorLine = 18 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes a debug message.
            WriteDebugLine = 19 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Shows a progress record.
            WriteProgress = 20 {
                /// Identifier of the progress source.
                source_id: i64,
                /// The progress record.
                record: Box<Progress>,
            } => Nothing;
            /// Writes a verbose message.
            WriteVerboseLine = 21 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes a warning.
            WriteWarningLine = 22 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Asks the user for several values.
            Prompt = 23 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// Requested values.
                fields: Vec<FieldDescription>,
            } => Answers;
            /// Asks the user for a credential.
            PromptForCredential1 = 24 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// Initial user name.
                user_name: PsString,
                /// Target that the credential is used for.
                target_name: PsString,
            } => Credential;
            /// Asks the user for a credential of certain kinds.
            PromptForCredential2 = 25 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// Initial user name.
                user_name: PsString,
                /// Target that the credential is used for.
                target_name: PsString,
                /// Accepted kinds of credentials.
                allowed: CredentialTypes,
                /// Options of the prompt.
                options: CredentialUiOptions,
            } => Credential;
            /// Asks the user for one of several choices.
            PromptForChoice = 26 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// The choices.
                choices: Vec<ChoiceDescription>,
                /// Index of the default choice, -1 for none.
                default_choice: i32,
            } => Number;
            /// Returns the text colour.
            GetForegroundColor = 27 => Color;
            /// Sets the text colour.
            SetForegroundColor = 28 {
                /// Colour.
                color: ConsoleColor,
            } => Nothing;
            /// Returns the background colour.
            GetBackgroundColor = 29 => Color;
            /// Sets the background colour.
            SetBackgroundColor = 30 {
                /// Colour.
                color: ConsoleColor,
            } => Nothing;
            /// Returns the cursor position.
            GetCursorPosition = 31 => Coordinates;
            /// Moves the cursor.
            SetCursorPosition = 32 {
                /// New position.
                position: Coordinates,
            } => Nothing;
            /// Returns the position of the window in the buffer.
            GetWindowPosition = 33 => Coordinates;
            /// Moves the window in the buffer.
            SetWindowPosition = 34 {
                /// New position.
                position: Coordinates,
            } => Nothing;
            /// Returns the cursor size in percent of a cell.
            GetCursorSize = 35 => Number;
            /// Sets the size of the cursor.
            SetCursorSize = 36 {
                /// Percent of a cell.
                size: i32,
            } => Nothing;
            /// Returns the size of the buffer.
            GetBufferSize = 37 => Size;
            /// Sets the size of the buffer.
            SetBufferSize = 38 {
                /// Size.
                size: Size,
            } => Nothing;
            /// Returns the size of the window.
            GetWindowSize = 39 => Size;
            /// Sets the size of the window.
            SetWindowSize = 40 {
                /// Size.
                size: Size,
            } => Nothing;
            /// Returns the window title.
            GetWindowTitle = 41 => Text;
            /// Sets the window title.
            SetWindowTitle = 42 {
                /// Title.
                title: PsString,
            } => Nothing;
            /// Returns the maximum size of the window with the current buffer.
            GetMaxWindowSize = 43 => Size;
            /// Returns the maximum size of the window on the screen.
            GetMaxPhysicalWindowSize = 44 => Size;
            /// Returns whether a key is available.
            GetKeyAvailable = 45 => Bool;
            /// Reads a key.
            ReadKey = 46 {
                /// Keys to read, and how.
                options: ReadKeyOptions,
            } => Key;
            /// Discards pending keys.
            FlushInputBuffer = 47 => Nothing;
            /// Fills a rectangle of the buffer.
            SetBufferContents1 = 48 {
                /// Rectangle to fill.
                rectangle: Rectangle,
                /// Cell to fill it with.
                fill: BufferCell,
            } => Nothing;
            /// Writes cells into the buffer.
            SetBufferContents2 = 49 {
                /// Position of the first cell.
                origin: Coordinates,
                /// Cells to write.
                contents: CellBuffer,
            } => Nothing;
            /// Returns cells of the buffer. PowerShell does not allow this remotely.
            GetBufferContents = 50 {
                /// Rectangle to read.
                rectangle: Rectangle,
            } => Cells;
            /// Moves a rectangle of the buffer.
            ScrollBufferContents = 51 {
                /// Rectangle to move.
                source: Rectangle,
                /// Position to move it to.
                destination: Coordinates,
                /// Rectangle that may be modified.
                clip: Rectangle,
                /// Cell to fill the vacated area with.
                fill: BufferCell,
            } => Nothing;
            /// Enters another runspace. Not usable remotely.
            PushRunspace = 52 {
                /// Runspace to enter.
                runspace: Value,
            } => Nothing;
            /// Leaves the entered runspace.
            PopRunspace = 53 => Nothing;
            /// Returns whether another runspace was entered.
            GetIsRunspacePushed = 54 => Bool;
            /// Returns the runspace, which cannot be serialized.
            GetRunspace = 55 => Other;
            /// Asks the user for any number of choices.
            PromptForChoiceMultipleSelection = 56 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// The choices.
                choices: Vec<ChoiceDescription>,
                /// Indexes of the default choices.
                default_choices: Vec<i32>,
            } => Choices;
        }
    };
}

pub(super) use methods;
