//! Pagination of lists.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;
use serde::de::DeserializeOwned;

use crate::client::{Call, Client, Plan};
use crate::error::Result;
use crate::types::{async_chat, batches, files, skills};

/// One page of a list.
pub trait Page: DeserializeOwned + Send + 'static {
    /// Type of the list's items.
    type Item: Send;

    /// Returns the query parameter and value that request the next page; `None` on the last page.
    fn next_page(&self) -> Option<(&'static str, &str)>;

    /// Returns the items of the page.
    fn into_items(self) -> Vec<Self::Item>;
}

macro_rules! pages {
    ($($page:ty: $field:ident of $item:ty, next $name:literal if $next:expr;)+) => {$(
        impl Page for $page {
            type Item = $item;

            fn next_page(&self) -> Option<(&'static str, &str)> {
                let next: fn(&Self) -> Option<&str> = $next;
                next(self).filter(|value| !value.is_empty()).map(|value| ($name, value))
            }

            fn into_items(self) -> Vec<$item> {
                self.$field
            }
        }
    )+};
}

pages! {
    files::List: data of files::FileObject,
        next "after" if |page| page.last_id.as_deref().filter(|_| page.has_more);
    batches::List: data of batches::Batch,
        next "after" if |page| page.last_id.as_deref().filter(|_| page.has_more);
    skills::List: skills of skills::ManagedSkill, next "page_token" if |page| page.next_page_token.as_deref();
    skills::Revisions: revisions of skills::Revision, next "page_token" if |page| page.next_page_token.as_deref();
    async_chat::List: requests of async_chat::AsyncCompletion, next "next_token" if |page| page.next_token.as_deref();
}

impl<P: Page, C> Call<P, C> {
    /// Returns a stream of the items of this page and all following pages.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// use futures_util::TryStreamExt as _;
    ///
    /// let mut files = client.files().list(&Default::default()).items();
    /// while let Some(file) = files.try_next().await? {
    ///     println!("{}", file.filename);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn items(self) -> Items<P> {
        let (client, plan) = (self.client.clone(), self.plan.as_ref().ok().cloned());
        let request = Some(self.for_client::<Client>().into_future());
        Items { client, plan, request, current: None, items: Vec::new().into_iter() }
    }
}

/// Stream of the items of a list; see [`Call::items`]. Each page is requested when polled.
///
/// The stream ends after the last page, after an error, or if a page links to itself.
#[must_use = "streams do nothing unless polled"]
pub struct Items<P: Page> {
    client: Client,
    /// The request for the last page; `None` if it is invalid.
    plan: Option<Plan>,
    /// The next page, requested when polled. `None` after the last one.
    request: Option<ResponseFuture<P>>,
    /// Page token of the last request.
    current: Option<String>,
    /// Remaining items of the last page.
    items: vec::IntoIter<P::Item>,
}

type ResponseFuture<P> = Pin<Box<dyn Future<Output = Result<P>> + Send>>;

impl<P: Page> Unpin for Items<P> {}

impl<P: Page> Stream for Items<P> {
    type Item = Result<P::Item>;

    /// # Errors
    ///
    /// The errors of [`Call::send`].
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(item) = this.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            let Some(request) = &mut this.request else { return Poll::Ready(None) };
            let page = ready!(request.as_mut().poll(cx));
            this.request = None;
            let page = match page {
                Ok(page) => page,
                Err(error) => return Poll::Ready(Some(Err(error))),
            };
            this.request_next(&page);
            this.items = page.into_items().into_iter();
        }
    }
}

impl<P: Page> Items<P> {
    /// Prepares the request for the page after `page`, if any.
    fn request_next(&mut self, page: &P) {
        let (Some(plan), Some((name, value))) = (&mut self.plan, page.next_page()) else { return };
        if self.current.as_deref() == Some(value) {
            return;
        }
        self.current = Some(value.to_owned());
        plan.set_query(name, value.to_owned());
        self.request = Some(Call::json(&self.client, Ok(plan.clone())).into_future());
    }
}

impl<P: Page> fmt::Debug for Items<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("ended", &self.request.is_none()).finish_non_exhaustive()
    }
}
