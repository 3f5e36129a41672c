//! TLS by rustls needs a provider of cryptography, which a program may bring.
#![cfg(all(feature = "rustls-no-provider", not(feature = "rustls")))]

use tokio_rustls::rustls::crypto::aws_lc_rs;

#[test]
fn a_missing_provider_is_an_error() {
    let build = || tightwire_perplexity::Client::builder().without_environment().api_key("key").build();
    let error = build().unwrap_err();
    assert!(error.is_config());
    assert!(error.to_string().contains("provider"), "{error}");
    aws_lc_rs::default_provider().install_default().unwrap();
    build().unwrap();
}
