//! Exceptions, which travel as plain objects.

use crate::Object;
use crate::value::{PsString, Value};

/// `COR_E_SYSTEM`, the result code of exceptions that have none of their own.
const RESULT_CODE: i32 = -2_146_233_087;

/// The object of an exception with this message.
///
/// `type_names` are those of the exception without the last two, most derived first: for
/// `System.Management.Automation.RuntimeException` that name and `System.SystemException`. `System.Exception` and
/// `System.Object` follow by themselves.
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
        .adapted("HResult", RESULT_CODE)
        .adapted("InnerException", Value::Nil)
        .adapted("Source", Value::Nil)
        .adapted("StackTrace", Value::Nil)
        .adapted("TargetSite", Value::Nil)
        .build()
        .into()
}
