//! PowerShell's documents to Rust types, and errors of both directions.
#![cfg(feature = "serde")]

use psrp::value::SecureString;
use psrp::{from_clixml, to_clixml};
use serde::Deserialize;

#[test]
fn powershell_objects_are_deserialized() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Service {
        name: String,
        status: Status,
        start_type: i32,
        required_services: Vec<String>,
        dependent: Option<Box<Self>>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    enum Status {
        Stopped,
        Running,
    }
    let document = "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\n  \
        <Obj RefId=\"0\"><TN RefId=\"0\"><T>System.ServiceProcess.ServiceController</T><T>System.Object</T></TN>\
        <ToString>sshd</ToString><Props><S N=\"Name\">sshd</S>\
        <Obj N=\"Status\" RefId=\"1\"><TN RefId=\"1\"><T>System.ServiceProcess.ServiceControllerStatus</T>\
        <T>System.Enum</T><T>System.ValueType</T><T>System.Object</T></TN><ToString>Running</ToString><I32>4</I32></Obj>\
        <Obj N=\"StartType\" RefId=\"2\"><TNRef RefId=\"1\" /><ToString>Automatic</ToString><I32>2</I32></Obj>\
        <Obj N=\"RequiredServices\" RefId=\"3\"><TN RefId=\"2\"><T>System.String[]</T></TN>\
        <LST><S>tcpip</S><Obj RefId=\"4\"><S>rpc_x0073_s</S><MS><S N=\"PSPath\">p</S></MS></Obj></LST></Obj></Props>\
        <MS><Nil N=\"Dependent\" /><I32 N=\"STARTTYPE\">3</I32></MS></Obj>\n</Objs>";
    let service: Service = from_clixml(document.as_bytes()).unwrap();
    assert_eq!(
        service,
        Service {
            name: "sshd".into(),
            status: Status::Running,
            start_type: 3,
            required_services: vec!["tcpip".into(), "rpcss".into()],
            dependent: None,
        }
    );
    assert_eq!(from_clixml::<Status>(b"<S>stopped</S>").unwrap(), Status::Stopped);
}

#[test]
fn errors_of_parsing_and_deserializing_are_distinct() {
    let error = from_clixml::<i32>(b"<I32>x</I32>").unwrap_err();
    assert!(error.is_invalid_text());
    assert!(error.offset().is_some());
    assert!(from_clixml::<i32>(b"<S>x</S>").unwrap_err().is_mismatch());
    assert!(to_clixml(&1_u128).unwrap_err().is_unwritable());
    assert!(to_clixml(&SecureString::new("secret")).unwrap_err().is_no_key());
}
