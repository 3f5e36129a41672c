//! Text encodings of scripts, input and CLIXML.

use std::io::{self, BufRead, Cursor};

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Characters 128 to 255 of the code pages of consoles that the WHATWG encodings do not include.
const CONSOLE_PAGES: [(&str, &str); 4] = [
    (
        "437",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
         └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}",
    ),
    (
        "850",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
         └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    ),
    (
        "852",
        "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐\
         └┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}",
    ),
    (
        "858",
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
         └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}",
    ),
];

/// An encoding that an option names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CodePage {
    Console(&'static str),
    Standard(&'static Encoding),
}

impl CodePage {
    /// Parses the number of a Windows code page or the name of an encoding.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        let number = lower.trim_start_matches("cp").trim_start_matches("ibm");
        if let Some((_, characters)) = CONSOLE_PAGES.iter().find(|(page, _)| *page == number) {
            return Ok(Self::Console(characters));
        }
        let label = match number {
            "932" => "shift_jis",
            "936" => "gbk",
            "949" => "euc-kr",
            "950" => "big5",
            "1200" => "utf-16le",
            "1201" => "utf-16be",
            "65001" => "utf-8",
            "874" | "1250" | "1251" | "1252" | "1253" | "1254" | "1255" | "1256" | "1257" | "1258" => {
                &format!("windows-{number}")
            }
            "866" => "ibm866",
            _ => name,
        };
        Encoding::for_label(label.as_bytes()).map(Self::Standard).ok_or_else(|| "unknown encoding".into())
    }

    pub(crate) fn decoder(self) -> TextDecoder {
        match self {
            Self::Console(characters) => TextDecoder::Console(characters.chars().collect()),
            Self::Standard(encoding) => TextDecoder::Standard(encoding.new_decoder()),
        }
    }
}

/// Decodes text in chunks. A byte order mark overrides the encoding; invalid bytes become U+FFFD.
pub(crate) enum TextDecoder {
    Console(Vec<char>),
    Standard(Decoder),
}

impl TextDecoder {
    pub(crate) fn push(&mut self, bytes: &[u8], is_last: bool, out: &mut String) {
        match self {
            Self::Console(characters) => out.extend(bytes.iter().map(|byte| match byte {
                0..128 => char::from(*byte),
                128.. => characters[usize::from(*byte) - 128],
            })),
            Self::Standard(decoder) => {
                out.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
                let _ = decoder.decode_to_string(bytes, out, is_last);
            }
        }
    }
}

/// Returns the encoding of a text and the length of its byte order mark. UTF-16 is recognized by the mark, or by the
/// zero byte of an ASCII character at the start; other text is UTF-8.
fn detect(start: &[u8]) -> (&'static Encoding, usize) {
    Encoding::for_bom(start).unwrap_or(match start {
        [1..=255, 0, ..] => (UTF_16LE, 0),
        [0, 1..=255, ..] => (UTF_16BE, 0),
        _ => (UTF_8, 0),
    })
}

/// Decodes UTF-8 or UTF-16 and removes a byte order mark. Returns `None` for malformed text.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    let (encoding, mark) = detect(bytes);
    encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]).map(Into::into)
}

/// Returns a reader of the same text in UTF-8 without a byte order mark. UTF-16 is read to its end at once.
pub(crate) fn utf8_reader(mut input: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let (encoding, mark) = detect(input.fill_buf()?);
    input.consume(mark);
    if encoding == UTF_8 {
        return Ok(Box::new(input));
    }
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let (text, _) = encoding.decode_without_bom_handling(&bytes);
    Ok(Box::new(Cursor::new(text.into_owned())))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn scripts_and_input_have_any_unicode_encoding() {
        let text = "'h\u{e4}'\r\n";
        let utf16 = |mark: bool, unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16()).flat_map(unit).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            format!("\u{feff}{text}").into_bytes(),
            utf16(true, u16::to_le_bytes),
            utf16(true, u16::to_be_bytes),
            utf16(false, u16::to_le_bytes),
            utf16(false, u16::to_be_bytes),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Some(text));
            let mut read = String::new();
            utf8_reader(Cursor::new(bytes)).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
        assert_eq!(decode(b"a\xff"), None);
        assert_eq!(decode(b"\xff\xfea"), None);
        assert_eq!(decode(b"").as_deref(), Some(""));
    }

    #[test]
    fn code_pages_have_numbers_and_names() {
        for (name, byte, expected) in [
            ("850", 0x81, "\u{fc}"),
            ("cp437", 0x84, "\u{e4}"),
            ("IBM852", 0x9f, "\u{10d}"),
            ("858", 0xd5, "\u{20ac}"),
            ("866", 0x80, "\u{410}"),
            ("1252", 0x80, "\u{20ac}"),
            ("windows-1251", 0xc0, "\u{410}"),
            ("utf-8", 0x81, "\u{fffd}"),
        ] {
            let mut text = String::new();
            CodePage::parse(name).unwrap().decoder().push(&[byte], true, &mut text);
            assert_eq!(text, expected, "{name}");
        }
        assert!(CONSOLE_PAGES.iter().all(|(_, characters)| characters.chars().count() == 128));
        assert!(CodePage::parse("cp0").is_err());
    }

    #[test]
    fn characters_may_be_split_between_chunks() {
        for (name, bytes) in [("utf-8", "a\u{e4}\u{1F600}b".as_bytes()), ("shift_jis", b"\x83\x41\x83\x42")] {
            let page = CodePage::parse(name).unwrap();
            let [mut whole, mut parts] = [const { String::new() }; 2];
            page.decoder().push(bytes, true, &mut whole);
            let mut decoder = page.decoder();
            for (index, byte) in bytes.iter().enumerate() {
                decoder.push(&[*byte], index + 1 == bytes.len(), &mut parts);
            }
            assert_eq!(parts, whole);
        }
    }
}
