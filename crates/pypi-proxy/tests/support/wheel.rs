//! Builds wheels.

use std::io::Write as _;

use rawzip::{CompressionMethod, ZipArchiveWriter};

/// Builds a wheel with these files, stored or deflated.
pub(crate) fn archive(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut out);
    for (name, content) in files {
        let (mut entry, config) = archive.new_file(*name).compression_method(method).start().unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            writer.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}
