//! What an error is about.

use crate::shape::open_enum;

open_enum! {
    /// The category of an error (`System.Management.Automation.ErrorCategory`, MS-PSRP 2.2.3.9).
    #[derive(Default)]
    pub enum ErrorCategory {
        /// Nothing in particular.
        #[default]
        NotSpecified = 0,
        /// Something could not be opened.
        OpenError = 1,
        /// Something could not be closed.
        CloseError = 2,
        /// A device failed.
        DeviceError = 3,
        /// Actions wait for each other.
        DeadlockDetected = 4,
        /// An argument is not valid.
        InvalidArgument = 5,
        /// Data are not valid.
        InvalidData = 6,
        /// The operation is not valid in this state.
        InvalidOperation = 7,
        /// A result is not valid.
        InvalidResult = 8,
        /// A type is not valid.
        InvalidType = 9,
        /// Metadata are wrong.
        MetadataError = 10,
        /// Not implemented.
        NotImplemented = 11,
        /// Not installed.
        NotInstalled = 12,
        /// An object, command or path was not found.
        ObjectNotFound = 13,
        /// The operation was stopped.
        OperationStopped = 14,
        /// The operation took too long.
        OperationTimeout = 15,
        /// The syntax is wrong.
        SyntaxError = 16,
        /// The script can't be parsed.
        ParserError = 17,
        /// Permission denied.
        PermissionDenied = 18,
        /// A resource is in use.
        ResourceBusy = 19,
        /// A resource exists already.
        ResourceExists = 20,
        /// A resource is not available.
        ResourceUnavailable = 21,
        /// Reading failed.
        ReadError = 22,
        /// Writing failed.
        WriteError = 23,
        /// Text that a program wrote to its error output.
        FromStdErr = 24,
        /// A security check failed.
        SecurityError = 25,
        /// A protocol was violated.
        ProtocolError = 26,
        /// A connection failed.
        ConnectionError = 27,
        /// Authentication failed.
        AuthenticationError = 28,
        /// A limit is exceeded.
        LimitsExceeded = 29,
        /// A quota is exceeded.
        QuotaExceeded = 30,
        /// A feature is not enabled.
        NotEnabled = 31,
    }
}
