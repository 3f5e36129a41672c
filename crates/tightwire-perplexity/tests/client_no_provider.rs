//! TLS with the feature `rustls-no-provider` requires an installed crypto provider.
#![cfg(all(feature = "rustls-no-provider", not(feature = "rustls")))]

use tokio_rustls::rustls::crypto::aws_lc_rs;

#[test]
fn missing_crypto_provider_is_an_error() {
    let build = || tightwire_perplexity::Client::builder().without_environment().api_key("key").build();
    let error = build().unwrap_err();
    assert!(error.is_config());
    assert!(error.to_string().contains("provider"), "{error}");
    aws_lc_rs::default_provider().install_default().unwrap();
    build().unwrap();
}
