//! Hosts for tests: no clock, no socket, no thread.

use kalends_core::machine::{Exchange, ExchangeId, Machine, Moment, Reply, Step};

/// The steps after which a machine is taken to spin.
const MAX_STEPS: usize = 20_000;

/// What a machine is driven against.
pub trait World {
    /// The simulated clock.
    fn now(&self) -> Moment;
    /// Moves the clock forward to this moment.
    fn advance(&mut self, to: Moment);
    /// Takes note of an exchange at the moment it is sent.
    fn sent(&mut self, _exchange: &Exchange) {}
    /// Answers one exchange; may move the clock.
    fn answer(&mut self, exchange: &Exchange) -> Reply;
    /// Chooses which of several open exchanges is answered next.
    fn choose(&mut self, _open: usize) -> usize {
        0
    }
}

/// One exchange at a time, like a blocking host. Cancels before step `cancel_at`. Returns how many steps it took.
///
/// # Panics
/// If the machine breaks the contract or does not end.
pub fn sequential<M: Machine>(mut machine: M, world: &mut impl World, cancel_at: Option<usize>) -> (M::Output, usize) {
    for step in 0..MAX_STEPS {
        if cancel_at == Some(step) {
            machine.cancel();
        }
        match machine.step(world.now()) {
            Step::Send(exchange) => {
                world.sent(&exchange);
                let reply = world.answer(&exchange);
                machine.receive(exchange.id, reply);
            }
            Step::Abort(_) => {}
            Step::Wait(Some(moment)) => world.advance(moment),
            Step::Wait(None) => panic!("nothing is in flight, so only time can help"),
            Step::Done(output) => return (output, step),
        }
    }
    panic!("the machine does not end");
}

/// Keeps exchanges open and answers them in the order that the world chooses.
///
/// # Panics
/// If the machine breaks the contract or does not end.
pub fn concurrent<M: Machine>(mut machine: M, world: &mut impl World) -> (M::Output, usize) {
    let mut open: Vec<(ExchangeId, Exchange)> = Vec::new();
    let mut most = 0;
    for _ in 0..MAX_STEPS {
        match machine.step(world.now()) {
            Step::Send(exchange) => {
                world.sent(&exchange);
                open.push((exchange.id, exchange));
            }
            Step::Abort(id) => open.retain(|(open, _)| *open != id),
            Step::Wait(moment) if open.is_empty() => world.advance(moment.expect("nothing is in flight")),
            Step::Wait(_) => {
                most = most.max(open.len());
                let at = world.choose(open.len());
                let (id, exchange) = open.remove(at);
                let reply = world.answer(&exchange);
                machine.receive(id, reply);
            }
            Step::Done(output) => return (output, most),
        }
    }
    panic!("the machine does not end");
}
