//! Parses arbitrary environment variables and configuration files as settings of the proxy.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pypi_proxy::config::{Settings, Sources};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // The file, and after a zero byte the variables.
    let (file, env) = text.split_once('\0').unwrap_or((text, ""));
    let env = env.lines().filter_map(|line| line.split_once('='));
    match Settings::read(&Sources::new().env(env).file("f", file)) {
        Ok(settings) => {
            let toml = settings.to_toml();
            assert!(Settings::read(&Sources::new().file("f", toml)).is_ok());
            let _ = settings.to_string();
        }
        Err(error) => assert!(error.is_config()),
    }
});
