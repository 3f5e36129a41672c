//! What becomes of a session.

use psrp::io::Connect;

use crate::files::{Files, key};
use crate::server::{Demands, Program, Server};

#[tokio::test]
async fn a_subsystem_that_is_not_there_is_an_error() {
    let (files, mine) = (Files::new(), key());
    let demands = Demands { keys: vec![mine.public_key().clone()], ..Demands::default() };
    let server = Server::start(demands, Program::Serve).await;
    let ssh = server.connector(&files).key_file(files.write_key("mine", &mine, None)).subsystem("perl");
    let error = ssh.connect().await.unwrap_err();
    assert!(error.is_unsupported(), "{error:?}");
    assert!(error.to_string().contains("no subsystem perl"), "{error}");
}
