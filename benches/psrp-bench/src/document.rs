//! A large document as `Export-Clixml` writes it: objects like those of `Get-Process`, indented.

use std::fmt::Write;

/// Start tag of a document.
pub(crate) const START: &str =
    "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\n";

/// Returns a document of at least `length` bytes and its number of objects.
pub fn exported(length: usize) -> (String, u64) {
    let mut document = START.to_owned();
    let mut count = 0;
    while document.len() < length {
        process(&mut document, count);
        count += 1;
    }
    document.push_str("</Objs>");
    (document, count)
}

/// Appends a process. Its numbers and texts are derived from `place`.
fn process(out: &mut String, place: u64) {
    let _ = writeln!(out, "  <Obj RefId=\"{}\">", place * 2);
    out.push_str(if place == 0 {
        "    <TN RefId=\"0\">\n      <T>Deserialized.System.Diagnostics.Process</T>\n      \
         <T>Deserialized.System.ComponentModel.Component</T>\n      \
         <T>Deserialized.System.MarshalByRefObject</T>\n      <T>Deserialized.System.Object</T>\n    </TN>\n"
    } else {
        "    <TNRef RefId=\"0\" />\n"
    });
    let _ = write!(out, "    <ToString>System.Diagnostics.Process (worker{place})</ToString>\n    <Props>\n");
    let (id, handles) = (1000 + place * 4, place * 7919 % 3000);
    let (minute, second) = (place / 60 % 60, place % 60);
    let _ = write!(
        out,
        "      <S N=\"Name\">worker{place}</S>\n      <I32 N=\"Id\">{id}</I32>\n      \
         <I32 N=\"HandleCount\">{handles}</I32>\n      <I64 N=\"WorkingSet64\">{}</I64>\n      \
         <I64 N=\"VirtualMemorySize64\">{}</I64>\n      <B N=\"HasExited\">false</B>\n      \
         <Db N=\"CPU\">{}.{:03}</Db>\n      <Nil N=\"ExitCode\" />\n      \
         <DT N=\"StartTime\">2024-05-{:02}T08:{minute:02}:{second:02}.5170000+02:00</DT>\n      \
         <TS N=\"TotalProcessorTime\">PT{minute}M{second}.25S</TS>\n      \
         <S N=\"Path\">C:\\Program Files\\Worker &amp; Sons\\bin\\worker{place}.exe</S>\n      \
         <S N=\"Description\">First line_x000D__x000A_second line of {place}</S>\n    </Props>\n",
        1_000_000 + place * 4096,
        2_203_318_222_848_u64 + place * 65536,
        place % 900,
        place % 1000,
        1 + place % 28,
    );
    let _ = write!(
        out,
        "    <MS>\n      <S N=\"Company\">Contoso</S>\n      <Obj N=\"Modules\" RefId=\"{}\">\n        \
         <LST>\n          <S>worker{place}.exe</S>\n          <S>ntdll.dll</S>\n          <S>KERNEL32.DLL</S>\n        \
         </LST>\n      </Obj>\n    </MS>\n  </Obj>\n",
        place * 2 + 1
    );
}

#[cfg(test)]
mod tests {
    use psrp::clixml::Reader;

    use super::*;

    #[test]
    fn objects_decode_to_the_intended_values() {
        let mut document = START.to_owned();
        process(&mut document, 0);
        process(&mut document, 61);
        document.push_str("</Objs>");
        let values: Vec<_> = Reader::new(document.as_bytes()).map(|item| item.unwrap().1).collect();
        assert_eq!(values.len(), 2);
        let last = &values[1];
        assert_eq!(last["Id"].as_i32(), Some(1244));
        assert_eq!(last["Path"], "C:\\Program Files\\Worker & Sons\\bin\\worker61.exe");
        assert_eq!(last["Description"], "First line\r\nsecond line of 61");
        assert_eq!(last["Modules"].items().map(<[_]>::len), Some(3));
        assert!(last.as_object().is_some_and(|object| object.is_a("System.Diagnostics.Process")));
    }
}
