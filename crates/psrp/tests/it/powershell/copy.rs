//! File copies.

use std::fs;
use std::io::Write as _;

use psrp::io::{ClientLimits, CopyOptions, Options, copy_from, copy_to};

use super::open;
use crate::io_copy::Directory;

/// Bytes without a pattern of the chunk's length.
fn contents(length: usize) -> Vec<u8> {
    (0..length as u64).map(|index| (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[tokio::test]
async fn files_are_written_and_read() {
    const ODD: &str = "it's a [b]* `\"$(x)\" \u{e4}\u{65e5}\u{1f600}.bin";

    let Some(pool) = open(Options::new()).await else { return };
    for (name, length, chunk) in [("empty", 0, 1), ("large", 5_000_001, 256 << 10), (ODD, 4096, 1000)] {
        let (here, there, back) = (Directory::new(), Directory::new(), Directory::new());
        let contents = contents(length);
        fs::write(here.path(name), &contents).unwrap();

        let mut steps = Vec::new();
        let options = CopyOptions::new().chunk_size(chunk).on_progress(|copied, total| {
            assert_eq!(total, Some(length as u64));
            steps.push(copied);
        });
        // To a directory, with the name of the file.
        let to = there.path("").into_os_string().into_string().unwrap();
        let sent = copy_to(&pool, here.path(name), to.as_str(), options).await.unwrap();
        assert!(steps.is_sorted() && steps[0] == 0 && steps.last() == Some(&sent.bytes), "{steps:?}");
        assert_eq!(steps.len(), 1 + length.div_ceil(chunk));
        assert_eq!(there.names(), [name]);
        assert_eq!(fs::read(there.path(name)).unwrap(), contents);

        let options = CopyOptions::new().chunk_size(chunk);
        let from = format!("{to}{name}");
        let received = copy_from(&pool, from.as_str(), back.path(""), options).await.unwrap();
        assert_eq!((received, received.bytes), (sent, length as u64));
        assert_eq!(back.names(), [name]);
        assert_eq!(fs::read(back.path(name)).unwrap(), contents);
    }
    // The script leaves no variables behind.
    let output = super::run(&pool, "$target, $source, $written, $resolve, $temporary -ne $null").await;
    assert!(output.output.is_empty(), "{output:?}");
    pool.close().await.unwrap();
}

#[tokio::test]
async fn failed_copies_leave_no_file() {
    // Less than the file, so that the server cannot read it completely at once.
    let Some(pool) =
        open(Options::new().limits(ClientLimits { max_buffered_bytes: 64 << 10, ..ClientLimits::default() }))
            .await
    else {
        return;
    };
    let directory = Directory::new();
    let path = |name: &str| directory.path(name).into_os_string().into_string().unwrap();
    let contents = contents(1_500_000);
    let small_chunks = || CopyOptions::new().chunk_size(64 << 10);
    fs::write(path("large"), &contents).unwrap();
    fs::write(path("small"), b"small").unwrap();
    let left = ["large", "small"];

    for (remote, message) in [
        (path("small"), "already exists"),
        (path("none/file"), "does not exist"),
        (path("small/"), "does not exist"),
        ("env:PATH".to_owned(), "not a path of the file system"),
        ("no-drive:/file".to_owned(), "no-drive"),
    ] {
        let error =
            copy_to(&pool, path("large"), remote.as_str(), CopyOptions::new()).await.unwrap_err().to_string();
        assert!(error.contains(message), "{remote}: {error}");
    }
    for (remote, message) in [(path("none"), "find file"), (path(""), "is a directory")] {
        let error = copy_from(&pool, remote.as_str(), path("new"), CopyOptions::new()).await.unwrap_err();
        assert!(error.is_pipeline() && error.to_string().contains(message), "{remote}: {error}");
    }
    assert_eq!(directory.names(), left);

    // The file changes while it is read.
    let options = small_chunks().on_progress(|copied, _| {
        if copied > 0 {
            let mut file = fs::OpenOptions::new().write(true).open(path("large")).unwrap();
            file.write_all(&[!contents[0]]).unwrap();
        }
    });
    let error = copy_from(&pool, path("large"), path("new"), options).await.unwrap_err();
    assert!(error.is_corrupt(), "{error}");
    assert_eq!(directory.names(), left);

    // The copy is dropped before it has finished.
    for is_upload in [true, false] {
        let middle = tokio::sync::Notify::new();
        let options = small_chunks().on_progress(|copied, _| {
            if copied > 0 {
                middle.notify_one();
            }
        });
        let (large, new) = (path("large"), path("new"));
        let copy = async {
            match is_upload {
                true => copy_to(&pool, &large, new.as_str(), options).await,
                false => copy_from(&pool, large.as_str(), &new, options).await,
            }
        };
        tokio::select! {
            copied = copy => panic!("{copied:?}"),
            () = middle.notified() => {}
        }
    }

    let options = CopyOptions::new().overwrite(true);
    let copied = copy_to(&pool, path("large"), path("small"), options).await.unwrap();
    assert_eq!((copied.bytes, fs::read(path("small")).unwrap().len()), (1_500_000, 1_500_000));
    pool.close().await.unwrap();
    assert_eq!(directory.names(), left);
}
