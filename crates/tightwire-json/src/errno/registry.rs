//! Which errors and services there are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Code, DefinitionError, Errno, codes};

/// The numbers of the predefined services.
pub mod services {
    macro_rules! services {
        ($($name:ident = $number:literal, $text:literal;)*) => {
            $(#[doc = concat!("Service `", $text, "`.")] pub const $name: u32 = $number;)*
            pub(super) const ALL: &[(u32, &str)] = &[$(($number, $text)),*];
        };
    }
    services! {
        COMMON = 0, "common";
        GATEWAY = 1, "gateway";
        USER = 2, "user";
        SCHEDULER = 3, "scheduler";
        API = 4, "api";
        DB = 10, "db";
        CACHE = 11, "cache";
        MQ = 12, "mq";
        RAG = 20, "rag";
        PAYMENT = 90, "payment";
        SMS = 91, "sms";
        EMAIL = 92, "email";
        STORAGE = 93, "storage";
    }
}

/// The errors and services of a program, for lookups by code.
///
/// Reading and registering take a lock that is held for one lookup only, so a registry can be shared by threads.
#[derive(Debug)]
pub struct Registry {
    entries: RwLock<Entries>,
}

#[derive(Debug)]
struct Entries {
    errors: BTreeMap<Code, Errno>,
    services: BTreeMap<u32, Cow<'static, str>>,
}

static GLOBAL: LazyLock<Registry> = LazyLock::new(Registry::new);

impl Registry {
    /// A registry that holds the predefined errors and services.
    pub fn new() -> Self {
        let errors = codes::ALL.iter().map(|&errno| (errno.code(), errno.clone())).collect();
        let services = services::ALL.iter().map(|&(number, name)| (number, Cow::Borrowed(name))).collect();
        Self { entries: RwLock::new(Entries { errors, services }) }
    }

    /// The registry of the process, which envelopes ask for the HTTP status of a bare code.
    pub fn global() -> &'static Self {
        &GLOBAL
    }

    /// Makes an error known.
    ///
    /// # Errors
    ///
    /// When its code is registered already; the registry stays as it was.
    pub fn register(&self, errno: Errno) -> Result<(), DefinitionError> {
        let mut entries = self.write();
        let code = errno.code();
        if entries.errors.contains_key(&code) {
            return Err(DefinitionError::code_taken(code));
        }
        entries.errors.insert(code, errno);
        Ok(())
    }

    /// The error of a code.
    pub fn lookup(&self, code: Code) -> Option<Errno> {
        self.read().errors.get(&code).cloned()
    }

    /// The HTTP status of a code: 200 for success, that of the registered error, or that of the category.
    pub fn http_status(&self, code: Code) -> u16 {
        if code.is_success() {
            return 200;
        }
        self.read().errors.get(&code).map_or_else(|| code.http_status(), Errno::http_status)
    }

    /// All errors, in the order of their codes.
    pub fn errors(&self) -> Vec<Errno> {
        self.read().errors.values().cloned().collect()
    }

    /// How many errors are registered.
    pub fn len(&self) -> usize {
        self.read().errors.len()
    }

    /// Whether no error is registered, which is never the case because there are predefined ones.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives a service its name. Doing so twice with the same name changes nothing.
    ///
    /// # Errors
    ///
    /// When the number is greater than 99 or belongs to a service of another name.
    pub fn register_service(
        &self,
        number: u32,
        name: impl Into<Cow<'static, str>>,
    ) -> Result<(), DefinitionError> {
        if number > Code::MAX_SERVICE {
            return Err(DefinitionError::service_out_of_range(number));
        }
        let name = name.into();
        let mut entries = self.write();
        match entries.services.get(&number) {
            Some(taken) if *taken != name => Err(DefinitionError::service_taken(number, taken.clone())),
            Some(_) => Ok(()),
            None => {
                entries.services.insert(number, name);
                Ok(())
            }
        }
    }

    /// The name of a service.
    pub fn service_name(&self, number: u32) -> Option<Cow<'static, str>> {
        self.read().services.get(&number).cloned()
    }

    // Nothing panics while the lock is held, and a map is whole between two calls in any case.
    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}
