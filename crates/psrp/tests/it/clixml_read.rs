//! Decoding of documents.

use psrp::clixml::{Reader, Stream, from_slice};
use psrp::value::{Base, Progress, TypeNames};
use psrp::{Error, Object, PsString, Value};

fn read(xml: &str) -> Value {
    from_slice(xml.as_bytes()).unwrap_or_else(|error| panic!("{xml}: {error}"))
}

fn refused(xml: &str) -> Error {
    match from_slice(xml.as_bytes()) {
        Ok(value) => panic!("{xml} was read as {value:?}"),
        Err(error) => error,
    }
}

fn items(xml: &str) -> Vec<(Option<Stream>, Value)> {
    Reader::new(xml.as_bytes()).collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{xml}: {error}"))
}

fn names(value: &Value) -> Vec<String> {
    let object = value.as_object().unwrap();
    object.type_names().map(|names| names.into_iter().map(PsString::to_string).collect()).unwrap_or_default()
}

mod forms {
    use super::*;
    use crate::clixml_write::START as OBJS;

    #[test]
    fn a_document_may_follow_a_bom_a_marker_line_and_a_declaration() {
        for before in [
            "",
            "\u{feff}",
            "\u{feff}\u{feff}",
            "#< CLIXML",
            "#< CLIXML\r\n",
            "\u{feff}#< CLIXML\n\u{feff}",
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n",
            "\u{feff}<?xml version='1.0'?>",
            "<!-- comment --> <?pi?>\n",
        ] {
            assert_eq!(read(&format!("{before}<S>x</S>")), "x", "{before:?}");
            assert_eq!(
                read(&format!("{before}{OBJS}\n  <S>x</S>\n</Objs>\n<!-- end -->")),
                "x",
                "{before:?}"
            );
        }
    }

    #[test]
    fn items_have_stream_names() {
        let xml = format!(
            "{OBJS}<S S='Error'>a</S><S S='vErBoSe'>b</S><S>c</S><S S='other'>d</S><Obj S='progress'/></Objs>"
        );
        let streams: Vec<_> = items(&xml).into_iter().map(|(stream, _)| stream).collect();
        let expected =
            [Some(Stream::Error), Some(Stream::Verbose), None, Some(Stream::Output), Some(Stream::Progress)];
        assert_eq!(streams, expected);
    }

    #[test]
    fn documents_follow_each_other() {
        let xml = format!("{OBJS}<S>a</S></Objs><S>b</S>{OBJS}</Objs>\n{OBJS}<S>c</S><Nil/></Objs>");
        let values: Vec<_> = items(&xml).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [Value::from("a"), "b".into(), "c".into(), Value::Nil]);
        assert!(items("<Objs />").is_empty());
    }

    #[test]
    fn references_are_scoped_to_their_document() {
        let one = r#"<Obj RefId="0"><TN RefId="0"><T>A</T></TN></Obj>"#;
        assert_eq!(items(&format!("{one}<Ref RefId='0'/>")).len(), 2);
        for second in ["<Ref RefId='0'/>", "<Obj><TNRef RefId='0'/></Obj>"] {
            let xml = format!("<Objs>{one}</Objs><Objs>{second}</Objs>");
            let items: Vec<_> = Reader::new(xml.as_bytes()).collect();
            assert!(items[0].is_ok());
            assert!(items[1].as_ref().unwrap_err().is_unknown_reference());
            assert_eq!(items.len(), 2);
        }
    }

    #[test]
    fn from_slice_requires_exactly_one_value() {
        assert!(refused("").is_unexpected_end());
        assert!(refused(" \n ").is_unexpected_end());
        assert!(refused("#< CLIXML\r\n").is_unexpected_end());
    }

    /// Each line of the file is the kind of the error and the document.
    #[test]
    fn other_documents_are_rejected() {
        for line in include_str!("../data/clixml-rejected.list").lines() {
            let (kind, xml) = line.split_once(' ').unwrap();
            assert_eq!(format!("{:?}", refused(xml).kind()), kind, "{xml}");
        }
    }

    #[test]
    fn the_reader_ends_after_an_error() {
        let mut reader = Reader::new(b"<S>a</S><B>x</B><S>c</S>");
        assert!(reader.next().unwrap().is_ok());
        assert!(reader.next().unwrap().is_err());
        assert!(reader.next().is_none());
        assert!(reader.next().is_none());
    }
}

mod texts {
    use super::*;

    #[test]
    fn adjacent_text_is_joined() {
        assert_eq!(read("<S>a<!-- c -->b<![CDATA[<&c>]]>&lt;&#100;<?p i?>e</S>"), "ab<&c><de");
        assert_eq!(read("<S>_x00<!-- c -->41_</S>"), "A");
        assert_eq!(read("<S>_x00&#52;1_</S>"), "A");
        assert_eq!(read("<S>a\r\nb\rc</S>"), "a\nb\nc");
        assert_eq!(read("<S>a&#13;\r\nb</S>"), "a\r\nb");
        assert_eq!(read("<S><![CDATA[]]></S>"), "");
    }

    #[test]
    fn characters_invalid_in_xml_are_accepted() {
        assert_eq!(read("<S>&#0;\u{1}\u{7f}\u{fffe}&#xFFFF;</S>"), "\0\u{1}\u{7f}\u{fffe}\u{ffff}");
        let Value::String(text) = read("<S>a&#xD800;b</S>") else { panic!("no string") };
        assert_eq!(text.to_utf16(), [0x61, 0xD800, 0x62]);
        assert_eq!(read("<S>&#xD83D;&#xDE00;</S>"), "\u{1F600}");
    }

    #[test]
    fn whitespace_is_trimmed_except_in_strings() {
        assert_eq!(read("<S> x </S>"), " x ");
        assert_eq!(read("<I32>\r\n 7\t</I32>"), Value::Int32(7));
        assert_eq!(read("<I32>&#32;7</I32>"), Value::Int32(7));
        assert_eq!(read("<Db> 1.5 </Db>"), Value::Double(1.5));
        assert_eq!(read("<Nil> </Nil>"), Value::Nil);
        assert!(refused("<I32>\u{a0}7</I32>").is_invalid_text());
    }

    #[test]
    fn unknown_versions_are_strings() {
        assert_eq!(read("<SemanticVersion>7.4.0-rc.1</SemanticVersion>"), "7.4.0-rc.1");
    }

    #[test]
    fn encrypted_strings_stay_encrypted() {
        let Value::SecureString(secret) = read("<SS>AAEC</SS>") else { panic!("no secure string") };
        assert_eq!(secret.encrypted(), Some(&[0, 1, 2][..]));
        assert!(!format!("{:?}", refused("<SS>secret!</SS>")).contains("secret"));
    }

    #[test]
    fn progress_records_are_complete() {
        let xml = "<PR><AV>a_x000A_</AV><AI>1</AI><S>o</S> <PI>-1</PI><PC>50</PC><T>Completed</T><SR>-1</SR><SD>s</SD></PR>";
        let mut expected = Progress::new(1, "a\n", "s");
        expected.current_operation = Some("o".into());
        expected.percent_complete = 50;
        expected.completed = true;
        assert_eq!(read(xml), Value::from(expected));
        assert!(refused(&xml.replace("<AI>1</AI>", "")).is_structure());
        assert!(refused(&xml.replace("Completed", "Done")).is_structure());
        assert!(refused(&xml.replace("<PC>50", "<PC>x")).is_invalid_text());
        assert!(refused(&xml.replace("<SD>", "<X/><SD>")).is_structure());
    }
}

mod attributes {
    use super::*;

    #[test]
    fn malformed_attributes_are_rejected() {
        for raw in ["N", "N=", "N=x", "='x'", "N='1' N='2'", "N='1'RefId='2'"] {
            assert!(refused(&format!("<S {raw}>x</S>")).is_syntax(), "{raw}");
        }
        assert!(refused("<S xmlns='http://example.org'>x</S>").is_structure());
    }

    #[test]
    fn references_and_white_space_in_names_are_resolved() {
        let member = |name: &str| format!("<Obj><MS><I32 N='{name}'>1</I32></MS></Obj>");
        for (written, name) in [
            ("a b", "a b"),
            ("&lt;&amp;&#65;&#x1F600;", "<&A\u{1F600}"),
            ("a\tb\r\nc\nd&#10;e", "a b c d\ne"),
        ] {
            assert_eq!(read(&member(written))[name], Value::Int32(1), "{written}");
        }
        for name in ["<", "&", "&;", "&x;", "&#xD800;", "&#x110000;"] {
            assert!(refused(&member(name)).is_syntax(), "{name}");
        }
    }

    #[test]
    fn names_of_streams_ignore_case() {
        for stream in [
            Stream::Output,
            Stream::Error,
            Stream::Warning,
            Stream::Verbose,
            Stream::Debug,
            Stream::Information,
            Stream::Progress,
        ] {
            assert_eq!(Stream::from_name(stream.name()), stream);
            assert_eq!(Stream::from_name(&stream.name().to_uppercase()), stream);
        }
        assert_eq!(Stream::from_name("elsewhere"), Stream::Output);
    }
}

mod objects {
    use super::*;

    #[test]
    fn object_parts_are_accepted_in_any_order() {
        let forwards = read(
            "<Obj RefId='0'><TN RefId='0'><T>A</T><T>B</T></TN><ToString>t</ToString><I32>1</I32>\
             <Props><S N='p'>x</S></Props><MS><S N='m'>y</S></MS></Obj>",
        );
        let backwards = read(
            "<Obj>\n<MS>\n<S N='m'>y</S>\n</MS><Props><S N='p'>x</S></Props><I32>1</I32>\
             <ToString>t</ToString><TN><T>A</T><T>B</T></TN></Obj>",
        );
        let expected = Object::builder()
            .type_names(["A", "B"])
            .to_string("t")
            .wrap(1)
            .adapted("p", "x")
            .extended("m", "y")
            .build();
        assert_eq!(forwards, Value::from(expected));
        assert_eq!(backwards, forwards);
    }

    #[test]
    fn repeated_sections_are_joined() {
        let value = read("<Obj><MS><I32 N='a'>1</I32></MS><Props/><MS><I32 N='b'>2</I32></MS></Obj>");
        let expected = Object::builder().extended("a", 1).extended("b", 2).build();
        assert_eq!(value, Value::from(expected));
        assert_eq!(read("<Obj><MS><S N=''>x</S></MS></Obj>")[""], "x");
    }

    #[test]
    fn missing_type_names_differ_from_an_empty_list() {
        for xml in ["<Obj><TN/></Obj>", "<Obj><TN RefId='0'></TN></Obj>"] {
            assert_eq!(read(xml).as_object().unwrap().type_names(), None, "{xml}");
        }
        let value = read("<Obj><TN RefId='0'/><LST><Obj><TNRef RefId='0'/></Obj></LST></Obj>");
        assert_eq!(value.items().unwrap(), [Value::from(Object::builder().build())]);
    }

    #[test]
    fn dictionaries_have_keys_and_values() {
        let value = read(
            "<Obj><DCT><En><Obj N='KEY'><LST><S>k</S></LST></Obj><Obj N='value'><DCT/></Obj></En>\
             <En> <S N='Key'>a</S> <Nil N='Value'/> </En><En><S N='Key'>a</S><S N='Value'>b</S></En></DCT></Obj>",
        );
        let entries = value.entries().unwrap();
        assert_eq!(entries[0].0.items().unwrap(), [Value::from("k")]);
        assert_eq!(entries[0].1.entries().unwrap(), []);
        assert_eq!(entries[1..], [("a".into(), Value::Nil), ("a".into(), "b".into())]);
    }

    #[test]
    fn unknown_children_of_objects_are_skipped() {
        let xml = "<Obj><New a='1'><Obj RefId='9'><New>text</New></Obj>&#1;</New><p:TN/><I32>1</I32></Obj>";
        assert_eq!(read(xml).as_i32(), Some(1));
    }
}

/// Tags are read by two code paths, depending on their spelling. These documents nest elements of both.
mod spellings {
    use super::*;

    /// Returns an equivalent spelling of a tag.
    fn respelled(tag: &str, how: usize) -> String {
        let inner = &tag[1..tag.len() - 1];
        match (how, inner.starts_with('/'), inner.ends_with('/')) {
            (1, false, false) => format!("<{inner} >"),
            (2, false, _) => tag.replace('"', "'"),
            (3, false, false) => format!("<{inner} other='>' >"),
            (4, false, _) => format!("<!-- > -->{tag}"),
            (5, false, _) => format!("\r\n\t{tag}"),
            (6, true, _) => format!("<{inner} \n>"),
            (7, true, _) => format!("<?pi?>\n{tag}"),
            (8, true, _) => format!(" <!-- < -->{tag}"),
            _ => tag.to_owned(),
        }
    }

    #[test]
    fn all_spellings_of_a_tag_are_equivalent() {
        const TAGS: &str = r#"<Objs>|<Obj RefId="0">|<TN RefId="0">|<T>A</T>|</TN>|<ToString>a_x0041_</ToString>|
            <Props>|<I32 N="a">1</I32>|<Obj N="b" RefId="1">|<TNRef RefId="0"/>|<LST>|<S>x_y</S>|
            <Obj>|<DCT>|<En>|<S N="Key">k</S>|<Ref N="Value" RefId="0"/>|</En>|</DCT>|</Obj>|</LST>|
            <MS>|<MS N="c">|<Nil N="_x0064_"/>|</MS>|</MS>|</Obj>|</Props>|</Obj>|</Objs>"#;

        let tags: Vec<_> = TAGS.split('|').map(str::trim).collect();
        let expected = read(&tags.concat());
        assert_eq!(names(&expected), ["A"]);
        assert_eq!(expected["b"]["c"].get("d"), Some(&Value::Nil));
        for at in 0..tags.len() {
            for how in 1..9 {
                for others in 0..9 {
                    let text: String = (0..tags.len())
                        .map(|index| match tags[index] {
                            tag if tag.contains("</") && !tag.starts_with("</") => tag.to_owned(),
                            tag => respelled(tag, if index == at { how } else { others }),
                        })
                        .collect();
                    assert_eq!(format!("{:?}", read(&text)), format!("{expected:?}"), "{text}");
                }
            }
        }
    }

    #[test]
    fn unusual_forms_of_a_primitive_are_equivalent() {
        for form in [
            "<I32 N='Id'>4</I32>",
            "<I32  N=\"Id\">4</I32>",
            "<I32 N=\"Id\" >4</I32>",
            "<I32 N =\"Id\">4</I32>",
            "<I32 N=\"Id\" S=\"x\">4</I32>",
            "<I32 N=\"&#73;d\">4</I32>",
            "<I32 N=\"Id\">4</I32 >",
            "<I32 N=\"Id\"><!-- -->4</I32>",
            "<I32 N=\"Id\"><![CDATA[4]]></I32>",
            "<I32 N=\"Id\">&#52;</I32>",
        ] {
            assert_eq!(read(&format!("<Obj><MS>{form}</MS></Obj>"))["Id"], Value::Int32(4), "{form}");
        }
        assert!(read("<Obj><MS><I32 N=\"a\tb\">4</I32></MS></Obj>").get("a b").is_some());
    }

    #[test]
    fn malformed_elements_are_rejected() {
        for form in [
            "<",
            "<I32",
            "<I32 ",
            "<I32 N=\"a\">4",
            "<I32 N=\"a\">4<",
            "<I32 N=\"a\">4</",
            "<I32 N=\"a\">4</I32",
            "<I32 N=\"a\">4</I64>",
            "<I32 N=\"a\">&#x;</I32>",
            "<I32 N=\"a\">4&amp</I32>",
            "<I32 N=\"a<b\">4</I32>",
            "<I32 N=\"a\"x>4</I32>",
            "<I32 N=\"a",
            "x<I32 N=\"a\">4</I32>",
            "<\u{e9}I32 N=\"a\">4</I32>",
            "<PR N=\"a\"/>",
            "<Ref N=\"a\"/>",
            "<Obj",
            "<Obj N=\"a\" RefId=\"0>\"",
            "<Obj N=\"a\" RefId></Obj>",
            "<Obj N=\"a\" RefId=0></Obj>",
            "<Obj RefId='0'N='1'></Obj>",
            "<Obj N=\"a\" xmlns='http://example.org'></Obj>",
            "< MS N=\"a\"></MS>",
            "<MS/x N=\"a\"></MS>",
            "<X N=\"a\"/>",
        ] {
            let error = refused(&format!("<Obj><MS>{form}</MS></Obj>"));
            assert!(
                error.is_syntax() || error.is_structure() || error.is_unexpected_end(),
                "{form}: {error}"
            );
        }
    }

    #[test]
    fn end_tags_match_their_start_tags() {
        for start in ["<Obj><MS>", "<Obj ><MS>", "<Obj><MS >", "<Obj other='>'><MS other='>'>"] {
            for inner in ["", "<I32 N='a'>1</I32>", "<!-- -->", " <!-- --> ", "<Obj N='a'><LST></LST></Obj>"]
            {
                read(&format!("{start}{inner}</MS></Obj>"));
                for end in [
                    "</Obj></MS>",
                    "</MS></MS>",
                    "</MSS></Obj>",
                    "</M></Obj>",
                    "</ MS></Obj>",
                    "</MS/></Obj>",
                ] {
                    let error = refused(&format!("{start}{inner}{end}"));
                    assert!(error.is_syntax(), "{start}{inner}{end}: {error}");
                }
                for end in ["</MS", "</MS></Obj", "</MS>", "</", "<", ""] {
                    let error = refused(&format!("{start}{inner}{end}"));
                    assert!(error.is_unexpected_end(), "{start}{inner}{end}: {error}");
                }
                for text in ["x", "\u{feff}", "&amp;", "<![CDATA[]]>", "<!-- -->x"] {
                    let error = refused(&format!("{start}{inner}{text}</MS></Obj>"));
                    assert!(error.is_structure(), "{start}{inner}{text}: {error}");
                }
            }
        }
    }

    #[test]
    fn invalid_utf8_is_rejected_at_its_offset() {
        let good = b"<Obj RefId=\"0\"><MS><S N=\"a\">b</S>";
        for bad in
            [&b"<S N=\"c\">\xff</S>"[..], b"<S N=\"\xff\">c</S>", b"<Obj N=\"\xff\">", b"</M\xffS>", b"\xff"]
        {
            let text = [good, bad, b"</MS></Obj>"].concat();
            let error = from_slice(&text).unwrap_err();
            assert!(error.is_syntax(), "{error}");
            assert_eq!(error.offset().map(|at| at >= good.len() as u64), Some(true), "{error}");
        }
        let items: Vec<_> = Reader::new(b"<S>a</S><S>\xff</S>").collect();
        assert!(matches!(&items[..], [Ok(_), Err(_)]));
    }
}

mod references {
    use super::*;

    #[test]
    fn objects_are_shared() {
        let value = read("<Obj><LST><Obj RefId='a'><MS><S N='x'/></MS></Obj><Ref RefId='a'/></LST></Obj>");
        let items = value.items().unwrap();
        assert!(items[0].as_object().unwrap().ptr_eq(&items[1].as_object().unwrap()));
    }

    #[test]
    fn type_name_lists_are_shared_as_a_whole() {
        let value = read(
            "<Obj><LST><Obj><TN RefId='0'><T>A</T><T>B</T></TN></Obj><Obj><TN RefId='1'><T>A</T></TN></Obj>\
             <Obj><TNRef RefId='0'/></Obj><Obj><TNRef RefId='1'></TNRef></Obj></LST></Obj>",
        );
        let lists: Vec<_> = value.items().unwrap().iter().map(names).collect();
        assert_eq!(lists, [vec!["A", "B"], vec!["A"], vec!["A", "B"], vec!["A"]]);
        let names =
            |index: usize| value.items().unwrap()[index].as_object().unwrap().type_names().unwrap().clone();
        let address = |names: &TypeNames| names.as_slice().as_ptr();
        assert_eq!(address(&names(0)), address(&names(2)));
    }

    #[test]
    fn cycles_refer_to_the_enclosing_object() {
        let value = read(
            "<Obj RefId='0'><MS><Obj N='a' RefId='1'><LST><Ref RefId='0'/><Ref RefId='1'/></LST></Obj></MS></Obj>",
        );
        let outer = value.as_object().unwrap();
        let inner = value["a"].as_object().unwrap();
        let items = value["a"].items().unwrap();
        assert!(matches!(items, [Value::Cycle(_), Value::Cycle(_)]));
        assert!(items[0].as_object().unwrap().ptr_eq(&outer));
        assert!(items[1].as_object().unwrap().ptr_eq(&inner));
        let own = read("<Obj RefId='0'><Ref RefId='0'/></Obj>");
        assert!(matches!(own.as_object().unwrap().base(), Base::Value(Value::Cycle(_))));
    }

    #[test]
    fn the_last_definition_of_an_identifier_wins() {
        let value = read(
            "<Obj RefId='0'><LST><Obj RefId='0'><S>inner</S></Obj><Ref RefId='0'/></LST>\
             <MS><Ref N='after' RefId='0'/></MS></Obj>",
        );
        assert_eq!(value.items().unwrap()[1].as_str(), Some("inner"));
        assert_eq!(value["after"].as_str(), Some("inner"));
        let after = "<Obj RefId='0'><Obj RefId='0'><S>inner</S></Obj></Obj><Ref RefId='0'/>";
        assert_eq!(items(after)[1].1.as_str(), Some("inner"));
    }
}

mod limits {
    use psrp::clixml::Limits;

    use super::*;
    use crate::limits::read as limited;

    fn nested(levels: usize) -> String {
        let objects = levels - 1;
        format!("{}<I32 N='leaf'>1</I32>{}", "<Obj N='c'><MS>".repeat(objects), "</MS></Obj>".repeat(objects))
    }

    #[test]
    fn depth() {
        let deep = Limits::new().max_depth(usize::MAX);
        assert!(limited(&nested(Limits::MAX_DEPTH), deep).is_ok());
        assert!(limited(&nested(Limits::MAX_DEPTH + 1), deep).unwrap_err().is_limit());
        assert!(limited("<S>x</S>", Limits::new().max_depth(1)).is_ok());
        assert!(limited("<Obj><I32>1</I32></Obj>", Limits::new().max_depth(1)).unwrap_err().is_limit());
        let sets = format!("<Obj><MS>{}{}</MS></Obj>", "<MS N='s'>".repeat(600), "</MS>".repeat(600));
        assert!(limited(&sets, deep).unwrap_err().is_limit());
    }

    #[test]
    fn references_count_towards_the_depth() {
        use std::fmt::Write;

        let chain = |length: usize| {
            let mut xml = String::from("<Obj RefId='0'><LST><Obj RefId='1'/>");
            for id in 2..=length {
                write!(xml, "<Obj RefId='{id}'><LST><Ref RefId='{}'/></LST></Obj>", id - 1).unwrap();
            }
            xml + "</LST></Obj>"
        };
        let longest = chain(Limits::MAX_DEPTH - 1);
        let value = read(&longest);
        assert_eq!(value, read(&longest));
        assert!(!format!("{value:?}").is_empty());
        assert!(refused(&chain(Limits::MAX_DEPTH)).is_limit());
        assert!(refused(&chain(100_000)).is_limit());
    }

    #[test]
    fn errors_have_the_offset_of_the_excess() {
        for (xml, limits, offset) in [
            ("<Obj><TN><T>A</T></TN><LST><S/><S/></LST></Obj>", Limits::new().max_nodes(3), 31),
            ("<S>x</S>", Limits::new().max_size(7), 7),
        ] {
            let error = limited(xml, limits).unwrap_err();
            assert!(error.is_limit());
            assert_eq!(error.offset(), Some(offset), "{xml}");
        }
    }
}

#[test]
fn errors_have_offsets() {
    for (xml, offset) in [
        ("<S>x</S> <B>maybe</B>", 9),
        ("\u{feff}<B>maybe</B>", 3),
        ("#< CLIXML\r\n<Obj><MS><I32 N='a'>x</I32></MS></Obj>", 11 + 9),
        ("<Obj><LST><S>a</S><Foo/></LST></Obj>", 18),
        ("<Obj><LST><S>a</S>text</LST></Obj>", 18),
        ("<Obj><LST></DCT></Obj>", 10),
        ("<Obj><DCT><En><S N='Key'>k</S></En></DCT></Obj>", 30),
        ("<S>a&nbsp;</S>", 4),
        ("<Obj><Ref RefId='7'/></Obj>", 5),
        ("<S>x</S><!DOCTYPE x>", 8),
        ("<Obj><MS>", 9),
        ("<S>ab", 5),
    ] {
        let last = Reader::new(xml.as_bytes()).last().unwrap();
        let error = last.unwrap_err();
        assert_eq!(error.offset(), Some(offset), "{xml}: {error}");
    }
}
