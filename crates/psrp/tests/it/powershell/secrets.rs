//! Secure strings and credentials, with a key (protocol 2.3) and without (2.4).

use std::sync::Arc;

use psrp::client::Config;
use psrp::host::{HostMethod, HostResult};
use psrp::io::{Options, ScriptedHost};
use psrp::message::{Command, PipelineState, PowerShell, SessionCapability};
use psrp::record::PsCredential;
use psrp::value::{SecureString, Value, Version};

use super::open;

#[tokio::test]
async fn secrets_are_transferred_in_both_directions() {
    const SECRET: &str = "p\u{e4}ss\u{1F600}";
    const SCRIPT: &str = "param($text, $login) $login.UserName; \
        foreach ($secret in $text, $login.Password, $Host.UI.ReadLineAsSecureString()) { \
            [Net.NetworkCredential]::new('', $secret).Password; $secret }; $login";

    for version in [Version::new(2, 3), Version::new(2, 4)] {
        let secret = || SecureString::new(SECRET);
        let login = PsCredential::new("ada", secret());
        let capability = SessionCapability { protocol_version: version, ..SessionCapability::default() };
        let host =
            ScriptedHost::new().answer(HostMethod::ReadLineAsSecureString, HostResult::Secure(secret()));
        let options = Options::new().config(Config::new().capability(capability)).host(Arc::new(host));
        let Some(pool) = open(options).await else { return };
        // PowerShell before 7.6 only supports 2.3.
        assert!(pool.peer().unwrap().protocol_version <= version);
        let script = Command::script(SCRIPT).argument(secret()).argument(login.to_value());
        let output = pool.invoke(PowerShell::new().command(script)).await.unwrap();
        assert_eq!(output.state, PipelineState::Completed, "{:?}", output.reason);
        let (text, hidden) = (Value::from(SECRET), Value::from(secret()));
        let [user, texts @ .., last] = &output.output[..] else { panic!("{:?}", output.output) };
        pool.decrypt(last).await.unwrap();
        assert_eq!((user, texts.len()), (&Value::from("ada"), 6));
        for pair in texts.chunks(2) {
            assert_eq!(pair, [text.clone(), hidden.clone()]);
        }
        assert_eq!(PsCredential::from_value(last).unwrap(), login);
        pool.close().await.unwrap();
    }
}
