//! Looks up a figure of one party in the results of the suites or of the load run.

use crate::data::claims::Term;
use crate::data::recorded::RecordedFile;
use crate::load::{self, Outcome};
use crate::report::{Quantity, Ratio, Role, Row};
use crate::stats;

/// The party whose figure a column of a published table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    /// The Go project, recorded earlier.
    Recorded,
    /// The Go project, live, imported or as a stand-in; otherwise the best Go peer.
    Go,
    /// The best Rust peer; under load the Python peer.
    Peer,
    /// The limit of the machine; under load a static file server.
    Limit,
    Ours,
}

/// All results that figures are computed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'f> {
    pub(crate) rows: &'f [Row],
    pub(crate) load: Option<&'f Outcome>,
    pub(crate) recorded: &'f RecordedFile,
}

/// A figure and the implementation that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// Bytes and allocations per operation, printed beside times.
    pub(crate) counts: Option<(f64, f64)>,
}

impl Facts<'_> {
    /// Returns the figure of a term for one party. A term that names an implementation has a figure only for ours.
    pub(crate) fn find(&self, term: &Term, party: Party) -> Option<Found> {
        let quantity = term.quantity;
        match (&term.implementation, party) {
            (None, party) if quantity.is_of_load() => self.under_load(term, party),
            (None, Party::Recorded) => self.recorded(&term.key, quantity),
            (None, party) => of_row(self.row(&term.key, party)?, quantity),
            (Some(name), Party::Ours) if name == "recorded" => self.recorded(&term.key, quantity),
            (Some(name), Party::Ours) => {
                let named = |row: &&Row| row.implementation == *name && row.time_ns.is_some();
                of_row(self.of_key(&term.key).find(named)?, quantity)
            }
            (Some(_), _) => None,
        }
    }

    fn of_key<'k>(&'k self, key: &'k str) -> impl Iterator<Item = &'k Row> {
        let named = move |row: &&Row| key.split_once('/') == Some((row.system.as_str(), row.row.as_str()));
        self.rows.iter().filter(named)
    }

    /// Returns whether a suite measured a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.of_key(key).any(|row| row.time_ns.is_some())
    }

    /// Returns the row that represents a party for a key.
    pub(crate) fn row<'k>(&'k self, key: &'k str, party: Party) -> Option<&'k Row> {
        let timed = || self.of_key(key).filter(|row| row.time_ns.is_some());
        let fastest = |wanted: &dyn Fn(&Row) -> bool| {
            let time = |row: &&Row| row.time_ns.as_ref().map_or(f64::INFINITY, |time| time.min);
            timed().filter(|row| wanted(row)).min_by(|a, b| time(a).total_cmp(&time(b)))
        };
        let peer_in = |row: &Row, language: &str| row.role == Role::Peer && row.language == language;
        match party {
            // Ours that does the same work as the Go project, the fastest of them; otherwise one with a peer of its
            // class.
            Party::Ours => {
                let class = self.row(key, Party::Go).and_then(|row| row.class.as_ref());
                let ours =
                    |wanted: &dyn Fn(&Row) -> bool| fastest(&|row| row.role == Role::Ours && wanted(row));
                ours(&|row| class.is_some() && row.class.as_ref() == class)
                    .or_else(|| ours(&|row| row.opponent().is_some_and(|ratio| ratio.like_for_like)))
                    .or_else(|| ours(&|row| row.opponent().is_some()))
                    .or_else(|| ours(&|_| true))
            }
            Party::Peer => {
                let class = self.row(key, Party::Ours).and_then(|ours| ours.class.as_ref());
                let alike = |row: &Row| peer_in(row, "rust") && row.class.as_ref() == class;
                fastest(&alike).or_else(|| fastest(&|row| peer_in(row, "rust")))
            }
            Party::Go => fastest(&|row| row.role == Role::Original)
                .or_else(|| fastest(&|row| row.role == Role::OriginalStandin))
                .or_else(|| fastest(&|row| peer_in(row, "go"))),
            Party::Limit => fastest(&|row| row.role == Role::Limit),
            Party::Recorded => None,
        }
    }

    fn recorded(&self, key: &str, quantity: Quantity) -> Option<Found> {
        let figure = self.recorded.of(key).into_iter().find(|figure| figure.original)?;
        let value = match quantity {
            Quantity::Time => Some(figure.time_ns),
            Quantity::Bytes => figure.bytes_op,
            Quantity::Allocs => figure.allocs_op,
            _ => None,
        };
        Some(Found {
            counts: figure.bytes_op.zip(figure.allocs_op),
            name: figure.implementation,
            value: value?,
        })
    }

    fn under_load(&self, term: &Term, party: Party) -> Option<Found> {
        let row = term.key.split_once('/')?.1;
        if party == Party::Recorded {
            let found = self.recorded.of_load(&term.key)?;
            return Some(Found {
                name: found.server.clone(),
                value: found.figure(term.quantity)?,
                counts: None,
            });
        }
        let load = self.load?;
        let value = |server: &str| {
            let value = load.figure(row, server, term.quantity)?;
            Some(Found { name: server.to_owned(), value, counts: None })
        };
        load::servers_of(party).iter().find_map(|server| value(server))
    }

    /// Returns the ratio of the strongest alternative to ours, by round; above 1 if ours is better.
    pub(crate) fn ratio(&self, term: &Term) -> Option<Ratio> {
        if !term.quantity.is_of_load() {
            let ours = self.row(&term.key, Party::Ours)?;
            let timed = term.quantity.is_a_time_of_a_row();
            return ours.opponent().filter(|_| timed).cloned();
        }
        let (load, row) = (self.load?, term.key.split_once('/')?.1);
        let of = |server: &str| load.rounds(row, server, term.quantity);
        let ours = load::servers_of(Party::Ours).iter().map(|server| of(server)).find(|of| !of.is_empty())?;
        let against = |server: &'static str| {
            let theirs = of(server);
            let better = |(&ours, &theirs): (&f64, &f64)| {
                if term.quantity.is_rate() { ours / theirs } else { theirs / ours }
            };
            let pairs: Vec<f64> = ours.iter().zip(&theirs).map(better).collect();
            Some(Ratio {
                against: server.to_owned(),
                language: String::new(),
                like_for_like: true,
                median: stats::median(&pairs)?,
                min: stats::minimum(&pairs)?,
                max: stats::maximum(&pairs)?,
                of_minima: stats::median(&pairs)?,
                rounds: pairs.len(),
            })
        };
        let peers = [Party::Go, Party::Peer].into_iter().flat_map(load::servers_of);
        peers.filter_map(|server| against(server)).min_by(|a, b| a.median.total_cmp(&b.median))
    }
}

fn of_row(row: &Row, quantity: Quantity) -> Option<Found> {
    let time = || row.time_ns.as_ref().map(|time| time.min);
    let elements = || row.elements.filter(|&elements| elements > 0).map(|elements| elements as f64);
    let value = match quantity {
        Quantity::Time => time(),
        Quantity::TimePerElement => Some(time()? / elements()?),
        Quantity::ElementsPerS => Some(elements()? * 1e9 / time()?),
        Quantity::Bytes => row.bytes_op,
        Quantity::Allocs => row.allocs_op,
        Quantity::Payload => row.payload_bytes.map(|bytes| bytes as f64),
        _ => None,
    };
    Some(Found { name: row.implementation.clone(), value: value?, counts: row.bytes_op.zip(row.allocs_op) })
}
