//! Index with known files that counts the requests for each.

use std::sync::Arc;

use crate::support::prelude::*;

/// Files per project.
const EACH: usize = 4;
const CHUNK: usize = 64 << 10;
const LARGEST: usize = 12 << 20;

pub(crate) struct File {
    project: String,
    name: String,
    pub(crate) content: Bytes,
}

impl File {
    pub(crate) fn page(&self) -> String {
        format!("/simple/{}/", self.project)
    }

    pub(crate) fn path(&self) -> String {
        format!("/simple/{}/{}", self.project, self.name)
    }
}

pub(crate) struct Index {
    server: Server,
    pub(crate) files: Arc<Vec<Arc<File>>>,
}

impl Index {
    /// Index of `count` files of different lengths, with a delay after each 64 KiB of a file.
    pub(crate) fn start(count: usize, len: impl Fn(usize) -> usize, delay: Duration) -> Self {
        let all = content(LARGEST + count);
        let file = |number: usize| {
            let project = format!("p{}", number / EACH);
            let name = format!("{project}-1.{number}-py3-none-any.whl");
            // Files start at different offsets, so that their content differs.
            Arc::new(File { project, name, content: all.slice(number..number + len(number).min(LARGEST)) })
        };
        let files: Arc<Vec<_>> = Arc::new((0..count).map(file).collect());
        let shelf = files.clone();
        let server = Server::start(move |request| {
            if let Some(name) = request.path.strip_prefix("/f/") {
                let Some(file) = shelf.iter().find(|file| file.name == name) else {
                    return respond(404, &[], "");
                };
                let etag = format!("\"{}\"", file.content.len());
                return slowly(ranged(request, &[("etag", &etag)], &file.content), CHUNK, delay);
            }
            let of = shelf.iter().filter(|file| file.page() == request.path);
            let page = hashed_page(of.map(|file| (file.name.clone(), file.content.clone())));
            respond(200, &[JSON], page)
        });
        Self { server, files }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url("/simple/")
    }

    pub(crate) fn requests_for(&self, file: &File) -> usize {
        self.server.count_of(&format!("/f/{}", file.name))
    }

    /// Ranges of the requests for a file.
    pub(crate) fn ranges(&self, file: &File) -> Vec<String> {
        let path = format!("/f/{}", file.name);
        let requests = self.server.requests().into_iter().filter(|request| request.path == path);
        requests.map(|request| request.header("range").to_owned()).collect()
    }

    pub(crate) fn requests_for_page(&self, file: &File) -> usize {
        self.server.count_of(&file.page())
    }

    /// Asserts the number of requests for each of these files.
    pub(crate) fn was_asked(&self, files: &[Arc<File>], times: std::ops::RangeInclusive<usize>) {
        let counts: Vec<_> = files.iter().map(|file| (self.requests_for(file), &file.name)).collect();
        let wrong: Vec<_> = counts.iter().filter(|(count, _)| !times.contains(count)).collect();
        assert!(wrong.is_empty(), "{} of {} files: {wrong:?}", wrong.len(), files.len());
    }

    pub(crate) async fn stop(&self) {
        self.server.stop().await;
    }
}
