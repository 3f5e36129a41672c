//! Exceptions, represented as plain objects.

use crate::Object;
use crate::value::{PsString, Value};

/// `COR_E_SYSTEM`, the `HResult` of exceptions without a specific one.
const DEFAULT_HRESULT: i32 = -2_146_233_087;

/// Creates the object of an exception with this message.
///
/// `type_names` are the type names of the exception, most derived first, without the last two, `System.Exception` and
/// `System.Object`. For `System.Management.Automation.RuntimeException` they are that name and
/// `System.SystemException`.
///
/// ```
/// let exception = psrp::record::exception(["System.TimeoutException", "System.SystemException"], "too late");
/// assert_eq!(exception["Message"], "too late");
/// ```
pub fn exception<'a>(type_names: impl IntoIterator<Item = &'a str>, message: impl Into<PsString>) -> Value {
    let message = message.into();
    Object::builder()
        .type_names(type_names.into_iter().chain(["System.Exception", "System.Object"]))
        .adapted("Message", message)
        .adapted("Data", Value::Nil)
        .adapted("HelpLink", Value::Nil)
        .adapted("HResult", DEFAULT_HRESULT)
        .adapted("InnerException", Value::Nil)
        .adapted("Source", Value::Nil)
        .adapted("StackTrace", Value::Nil)
        .adapted("TargetSite", Value::Nil)
        .build()
        .into()
}
