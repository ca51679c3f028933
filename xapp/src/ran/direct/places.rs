//! Places for associations, and who gives way when there are none left.
//!
//! A peer that has not set up yet costs a place all the same. When all are taken, one of those is closed for the
//! newcomer, so that peers which connect and say nothing cannot keep a node out: the oldest of the address that has
//! most of them. A node sends its setup as soon as it is connected, and is not among them for long.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    last: u64,
    /// Those that have not set up, by age.
    waiting: BTreeMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    address: IpAddr,
    give_way: CancellationToken,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    number: u64,
    give_way: CancellationToken,
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Places {
            most,
            taken: Mutex::default(),
        })
    }

    /// A place for a peer, and whether another one gave way for it. `None`: all belong to nodes.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<(Place, bool)> {
        let mut taken = self.lock();
        let displaced = taken.count >= self.most;
        if displaced {
            let oldest = taken.first_to_give_way()?;
            // Its place is the newcomer's from now on.
            let waiting = taken.waiting.remove(&oldest)?;
            waiting.give_way.cancel();
        } else {
            taken.count += 1;
        }
        taken.last += 1;
        let (number, give_way) = (taken.last, CancellationToken::new());
        let waiting = Waiting {
            address,
            give_way: give_way.clone(),
        };
        taken.waiting.insert(number, waiting);
        drop(taken);
        let place = Place {
            places: Arc::clone(self),
            number,
            give_way,
        };
        Some((place, displaced))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Every change is complete before anything that could panic.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn first_to_give_way(&self) -> Option<u64> {
        let mut of_address = HashMap::<IpAddr, usize>::new();
        for waiting in self.waiting.values() {
            *of_address.entry(waiting.address).or_default() += 1;
        }
        let most = of_address.values().max()?;
        let mut by_age = self.waiting.iter();
        by_age
            .find(|(_, waiting)| of_address.get(&waiting.address) == Some(most))
            .map(|(number, _)| *number)
    }
}

impl Place {
    /// The peer has set up: it is not asked to give way any more. False: it was already.
    pub(super) fn keep(&self) -> bool {
        self.places.lock().waiting.remove(&self.number);
        !self.give_way.is_cancelled()
    }

    /// Waits until the peer is to give way to another one.
    pub(super) async fn wanted_back(&self) {
        self.give_way.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.waiting.remove(&self.number);
        if !self.give_way.is_cancelled() {
            taken.count -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn is_wanted_back(place: &Place) -> bool {
        place.give_way.is_cancelled()
    }

    #[test]
    fn those_that_have_not_set_up_give_way_the_oldest_of_the_busiest_address_first() {
        let places = Places::new(4);
        let take = |address| places.take(address).unwrap();
        let (node, _) = take(THERE);
        assert!(node.keep());
        let (slow_node, _) = take(THERE);
        let (first, _) = take(HERE);
        let (second, displaced) = take(HERE);
        assert!(!displaced);
        let (third, displaced) = take(HERE);
        assert!(displaced && is_wanted_back(&first) && !is_wanted_back(&second));
        // What gave way has no place to give back.
        drop(first);
        let (_fourth, displaced) = take(HERE);
        assert!(displaced && is_wanted_back(&second) && !is_wanted_back(&third));
        assert!(!is_wanted_back(&slow_node) && !is_wanted_back(&node));
    }

    #[test]
    fn nodes_keep_their_places() {
        let places = Places::new(2);
        let held: Vec<_> = (0..2).map(|_| places.take(HERE).unwrap().0).collect();
        assert!(held.iter().all(Place::keep));
        assert!(places.take(THERE).is_none());
        drop(held);
        let (_place, displaced) = places.take(THERE).unwrap();
        assert!(!displaced);
        assert_eq!(places.lock().count, 1);
    }
}
