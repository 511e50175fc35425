//! Visits every path through a tree of choices.

/// A path through a tree of choices, and the means to visit the next one.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    path: Vec<(usize, usize)>,
    at: usize,
    script: Vec<u8>,
}

impl Choices {
    /// The path that these octets choose, one for each choice, and the first possibility when they end.
    #[must_use]
    pub fn scripted(octets: &[u8]) -> Self {
        Self {
            script: octets.iter().rev().copied().collect(),
            ..Self::default()
        }
    }

    /// Chooses one of `arity` possibilities: the next one that has not been visited on this path.
    ///
    /// # Panics
    /// If the same path offers other possibilities than before: what is explored is not deterministic.
    pub fn pick(&mut self, arity: usize) -> usize {
        if self.at == self.path.len() {
            let first = self.script.pop().map_or(0, |octet| usize::from(octet) % arity);
            self.path.push((first, arity));
        }
        let (chosen, known) = self.path[self.at];
        assert_eq!(known, arity, "the same path must offer the same choices");
        self.at += 1;
        chosen
    }

    /// The choices made, for a failure message that can be replayed.
    #[must_use]
    pub fn made(&self) -> Vec<usize> {
        self.path[..self.at].iter().map(|(chosen, _)| *chosen).collect()
    }

    /// The path that is visited after this one, or nothing at the end of the tree.
    #[must_use]
    pub fn next_path(mut self) -> Option<Self> {
        self.at = 0;
        while let Some((chosen, arity)) = self.path.pop() {
            if chosen + 1 < arity {
                self.path.push((chosen + 1, arity));
                return Some(self);
            }
        }
        None
    }
}

/// Calls `visit` for every path and returns how many there are.
pub fn explore(mut visit: impl FnMut(Choices) -> Choices) -> usize {
    let mut next = Some(Choices::default());
    let mut leaves = 0;
    while let Some(choices) = next {
        leaves += 1;
        next = visit(choices).next_path();
    }
    leaves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_is_visited_once() {
        let mut seen = Vec::new();
        let leaves = explore(|mut choices| {
            let first = choices.pick(3);
            if first == 1 {
                choices.pick(2);
            }
            seen.push(choices.made());
            choices
        });
        assert_eq!(leaves, 4);
        assert_eq!(seen, [vec![0], vec![1, 0], vec![1, 1], vec![2]]);
    }
}
