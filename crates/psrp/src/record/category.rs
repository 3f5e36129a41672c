//! Categories of errors.

use crate::shape::open_enum;

open_enum! {
    /// The category of an error (`System.Management.Automation.ErrorCategory`, MS-PSRP 2.2.3.9).
    #[derive(Default)]
    pub enum ErrorCategory {
        /// No category.
        #[default]
        NotSpecified = 0,
        /// Opening failed.
        OpenError = 1,
        /// Closing failed.
        CloseError = 2,
        /// A device failed.
        DeviceError = 3,
        /// A deadlock was detected.
        DeadlockDetected = 4,
        /// An argument is invalid.
        InvalidArgument = 5,
        /// Data is invalid.
        InvalidData = 6,
        /// The operation is invalid in the current state.
        InvalidOperation = 7,
        /// A result is invalid.
        InvalidResult = 8,
        /// A type is invalid.
        InvalidType = 9,
        /// Metadata is invalid.
        MetadataError = 10,
        /// Not implemented.
        NotImplemented = 11,
        /// Not installed.
        NotInstalled = 12,
        /// An object, command or path was not found.
        ObjectNotFound = 13,
        /// The operation was stopped.
        OperationStopped = 14,
        /// The operation timed out.
        OperationTimeout = 15,
        /// A syntax error.
        SyntaxError = 16,
        /// The script can't be parsed.
        ParserError = 17,
        /// Permission denied.
        PermissionDenied = 18,
        /// A resource is in use.
        ResourceBusy = 19,
        /// A resource already exists.
        ResourceExists = 20,
        /// A resource is not available.
        ResourceUnavailable = 21,
        /// Reading failed.
        ReadError = 22,
        /// Writing failed.
        WriteError = 23,
        /// Text that a program wrote to standard error.
        FromStdErr = 24,
        /// A security check failed.
        SecurityError = 25,
        /// The protocol was violated.
        ProtocolError = 26,
        /// A connection failed.
        ConnectionError = 27,
        /// Authentication failed.
        AuthenticationError = 28,
        /// A limit was exceeded.
        LimitsExceeded = 29,
        /// A quota was exceeded.
        QuotaExceeded = 30,
        /// A feature is not enabled.
        NotEnabled = 31,
    }
}
