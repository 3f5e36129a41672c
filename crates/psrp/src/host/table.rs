//! The methods of a host: names, numbers, parameters and results.

/// Hands the table to a macro. A row is: documentation, name, number, parameters, shape of the result.
macro_rules! methods {
    ($then:ident) => {
        $then! {
            /// Asks for the name of the host.
            GetName = 1 => Text;
            /// Asks for the version of the host.
            GetVersion = 2 => Version;
            /// Asks for the identifier of the host.
            GetInstanceId = 3 => Guid;
            /// Asks for the name of the culture, such as `en-US`.
            GetCurrentCulture = 4 => Text;
            /// Asks for the name of the culture of the user interface.
            GetCurrentUICulture = 5 => Text;
            /// Asks the host to end.
            SetShouldExit = 6 {
                /// Exit code.
                exit_code: i32,
            } => Nothing;
            /// Starts a nested prompt.
            EnterNestedPrompt = 7 => Nothing;
            /// Ends the nested prompt.
            ExitNestedPrompt = 8 => Nothing;
            /// A program that uses the console starts.
            NotifyBeginApplication = 9 => Nothing;
            /// The program has ended.
            NotifyEndApplication = 10 => Nothing;
            /// Asks the user for a line.
            ReadLine = 11 => Text;
            /// Asks the user for a line that is not shown.
            ReadLineAsSecureString = 12 => Secure;
            /// Writes text.
            Write1 = 13 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes text in colour.
            Write2 = 14 {
                /// Colour of the text.
                foreground: ConsoleColor,
                /// Colour behind it.
                background: ConsoleColor,
                /// Text.
                text: PsString,
            } => Nothing;
            /// Ends a line.
            WriteLine1 = 15 => Nothing;
            /// Writes a line.
            WriteLine2 = 16 {
                /// Text.
                text: PsString,
            } => Nothing;
            /// Writes a line in colour.
            WriteLine3 = 17 {
                /// Colour of the text.
                foreground: ConsoleColor,
                /// Colour behind it.
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
            /// Shows progress.
            WriteProgress = 20 {
                /// Which source of progress this is.
                source_id: i64,
                /// How it stands.
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
                /// The values.
                fields: Vec<FieldDescription>,
            } => Answers;
            /// Asks the user for a credential.
            PromptForCredential1 = 24 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// User to start with.
                user_name: PsString,
                /// What the credential is for.
                target_name: PsString,
            } => Credential;
            /// Asks the user for a credential of some kind.
            PromptForCredential2 = 25 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// User to start with.
                user_name: PsString,
                /// What the credential is for.
                target_name: PsString,
                /// Kinds that are allowed.
                allowed: CredentialTypes,
                /// How to ask.
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
                /// Index of the choice to assume, -1 for none.
                default_choice: i32,
            } => Number;
            /// Asks for the colour of text.
            GetForegroundColor = 27 => Color;
            /// Sets the colour of text.
            SetForegroundColor = 28 {
                /// Colour.
                color: ConsoleColor,
            } => Nothing;
            /// Asks for the colour behind text.
            GetBackgroundColor = 29 => Color;
            /// Sets the colour behind text.
            SetBackgroundColor = 30 {
                /// Colour.
                color: ConsoleColor,
            } => Nothing;
            /// Asks where the cursor is.
            GetCursorPosition = 31 => Coordinates;
            /// Moves the cursor.
            SetCursorPosition = 32 {
                /// Where to.
                position: Coordinates,
            } => Nothing;
            /// Asks which part of the buffer the window shows.
            GetWindowPosition = 33 => Coordinates;
            /// Moves the window over the buffer.
            SetWindowPosition = 34 {
                /// Where to.
                position: Coordinates,
            } => Nothing;
            /// Asks for the size of the cursor in percent of a cell.
            GetCursorSize = 35 => Number;
            /// Sets the size of the cursor.
            SetCursorSize = 36 {
                /// Percent of a cell.
                size: i32,
            } => Nothing;
            /// Asks for the size of the buffer.
            GetBufferSize = 37 => Size;
            /// Sets the size of the buffer.
            SetBufferSize = 38 {
                /// Size.
                size: Size,
            } => Nothing;
            /// Asks for the size of the window.
            GetWindowSize = 39 => Size;
            /// Sets the size of the window.
            SetWindowSize = 40 {
                /// Size.
                size: Size,
            } => Nothing;
            /// Asks for the title of the window.
            GetWindowTitle = 41 => Text;
            /// Sets the title of the window.
            SetWindowTitle = 42 {
                /// Title.
                title: PsString,
            } => Nothing;
            /// Asks for the largest size of the window with this buffer.
            GetMaxWindowSize = 43 => Size;
            /// Asks for the largest size of the window on this screen.
            GetMaxPhysicalWindowSize = 44 => Size;
            /// Asks whether a key waits to be read.
            GetKeyAvailable = 45 => Bool;
            /// Waits for a key.
            ReadKey = 46 {
                /// Which keys and how.
                options: ReadKeyOptions,
            } => Key;
            /// Drops keys that wait to be read.
            FlushInputBuffer = 47 => Nothing;
            /// Fills a part of the buffer.
            SetBufferContents1 = 48 {
                /// The part.
                rectangle: Rectangle,
                /// What with.
                fill: BufferCell,
            } => Nothing;
            /// Writes cells into the buffer.
            SetBufferContents2 = 49 {
                /// Place of the first one.
                origin: Coordinates,
                /// The cells.
                contents: CellBuffer,
            } => Nothing;
            /// Asks for cells of the buffer. PowerShell refuses this to other machines.
            GetBufferContents = 50 {
                /// Which ones.
                rectangle: Rectangle,
            } => Cells;
            /// Moves a part of the buffer.
            ScrollBufferContents = 51 {
                /// The part.
                source: Rectangle,
                /// Where to.
                destination: Coordinates,
                /// What may be changed.
                clip: Rectangle,
                /// What comes where the part was.
                fill: BufferCell,
            } => Nothing;
            /// Enters another runspace; of no use to other machines.
            PushRunspace = 52 {
                /// The runspace.
                runspace: Value,
            } => Nothing;
            /// Leaves the runspace.
            PopRunspace = 53 => Nothing;
            /// Asks whether another runspace was entered.
            GetIsRunspacePushed = 54 => Bool;
            /// Asks for the runspace, which is no value that could be sent.
            GetRunspace = 55 => Other;
            /// Asks the user for any number of choices.
            PromptForChoiceMultipleSelection = 56 {
                /// Heading.
                caption: PsString,
                /// Text.
                message: PsString,
                /// The choices.
                choices: Vec<ChoiceDescription>,
                /// Indexes of the choices to assume.
                default_choices: Vec<i32>,
            } => Choices;
        }
    };
}

pub(super) use methods;
