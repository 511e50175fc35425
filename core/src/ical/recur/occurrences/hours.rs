//! Rules that repeat hourly or faster: hour by hour, those that the filters leave.

use super::{Occurrences, ones, picks};
use crate::ical::recur::civil::{CYCLE, DAY, LAST_SECOND, gcd};
use crate::ical::recur::{Frequency, Steps, StepsExhausted};

impl Occurrences<'_> {
    pub(super) fn step(&self) -> i64 {
        self.unit() * self.rule.interval
    }

    pub(super) fn unit(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Hourly => 3_600,
            Frequency::Minutely => 60,
            Frequency::Secondly | Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => 1,
        }
    }

    /// The start of the period of DTSTART.
    pub(super) fn base(&self) -> i64 {
        self.anchor.second.div_euclid(self.unit()) * self.unit()
    }

    /// The first period that starts at or after a second.
    fn tick(&self, second: i64) -> i64 {
        let (base, step) = (self.base(), self.step());
        base + ((second - base).max(0) + step - 1) / step * step
    }

    /// Whether the steps of the rule never meet its BYHOUR, BYMINUTE and BYSECOND, or BYSETPOS its periods.
    pub(super) fn misses(&self) -> bool {
        let rule = self.rule;
        let size = i64::from(self.size_of_tick());
        if !rule.positions.is_empty() && picks(&rule.positions, size).is_empty() {
            return true;
        }
        let common = gcd(self.step(), DAY);
        let all = |mask: u64, most: u32| if mask == 0 { (1_u64 << most) - 1 } else { mask };
        let hours = all(rule.hours.into(), 24);
        let minutes = if rule.frequency > Frequency::Minutely {
            1
        } else {
            all(rule.minutes, 60)
        };
        let seconds = if rule.frequency > Frequency::Secondly {
            1
        } else {
            all(rule.seconds, 60)
        };
        let base = self.base();
        !ones(hours).any(|hour| {
            ones(minutes).any(|minute| {
                let start = hour * 3_600 + minute * 60 - base;
                ones(seconds).any(|second| (start + second).rem_euclid(common) == 0)
            })
        })
    }

    /// The occurrences in one period before BYSETPOS.
    fn size_of_tick(&self) -> u32 {
        match self.rule.frequency {
            Frequency::Hourly => self.minutes().count_ones() * self.seconds().count_ones(),
            Frequency::Minutely => self.seconds().count_ones(),
            Frequency::Secondly | Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => 1,
        }
    }

    pub(super) fn fill_from_hours(&mut self, steps: &mut Steps) -> Result<bool, StepsExhausted> {
        let step = self.step();
        // The days after which the steps meet the same seconds of the same days again.
        let turn = step / gcd(step, DAY);
        let cycle = turn / gcd(turn, CYCLE) * CYCLE;
        loop {
            steps.charge(1)?;
            let tick = self.tick(self.hour * 3_600);
            if tick > LAST_SECOND {
                return Ok(false);
            }
            self.hour = tick.div_euclid(3_600);
            let day = self.hour.div_euclid(24);
            if day - self.fruitful > cycle {
                return Ok(false);
            }
            if day != self.admitted {
                if let Some(day) = self.rule.next_month(day) {
                    self.hour = day * 24;
                    continue;
                }
                if !self.rule.admits(day) {
                    self.hour = (day + 1) * 24;
                    continue;
                }
                self.admitted = day;
            }
            let of_day = self.hour.rem_euclid(24);
            if self.rule.hours != 0 && self.rule.hours >> of_day & 1 == 0 {
                let later = self.rule.hours >> of_day;
                self.hour += if later == 0 {
                    24 - of_day
                } else {
                    later.trailing_zeros().into()
                };
                continue;
            }
            self.lay_out_hour(tick, steps)?;
            self.hour += 1;
            if !self.ready.is_empty() {
                self.fruitful = day;
                return Ok(true);
            }
        }
    }

    /// Lays out what the rule has in the hour of a tick, from that tick on.
    pub(super) fn lay_out_hour(&mut self, tick: i64, steps: &mut Steps) -> Result<(), StepsExhausted> {
        let (start, step) = (tick.div_euclid(3_600) * 3_600, self.step());
        let end = start + 3_600;
        let minutes = if self.rule.minutes == 0 {
            (1 << 60) - 1
        } else {
            self.rule.minutes
        };
        match self.rule.frequency {
            Frequency::Hourly => {
                let seconds = self.seconds();
                steps.charge((self.minutes().count_ones() * seconds.count_ones()).into())?;
                for minute in ones(self.minutes()) {
                    self.ready
                        .extend(ones(seconds).map(|second| tick + minute * 60 + second));
                }
                self.pick_of_tick(0);
            }
            Frequency::Minutely => {
                let seconds = self.seconds();
                steps.charge(((end - tick + step - 1) / step) as u64 * u64::from(seconds.count_ones()))?;
                let mut tick = tick;
                while tick < end {
                    if minutes >> ((tick - start) / 60) & 1 == 1 {
                        let from = self.ready.len();
                        self.ready.extend(ones(seconds).map(|second| tick + second));
                        self.pick_of_tick(from);
                    }
                    tick += step;
                }
            }
            // One second is its own set: `misses` has looked at BYSETPOS.
            Frequency::Secondly | Frequency::Daily | Frequency::Weekly | Frequency::Monthly | Frequency::Yearly => {
                steps.charge(u64::from(minutes.count_ones()) * (60 / step.min(60)) as u64)?;
                for minute in ones(minutes) {
                    let from = start + minute * 60;
                    let mut second = self.tick(from.max(tick));
                    while second < from + 60 {
                        if self.rule.seconds == 0 || self.rule.seconds >> (second - from) & 1 == 1 {
                            self.ready.push(second);
                        }
                        second += step;
                    }
                }
            }
        }
        Ok(())
    }

    /// BYSETPOS within what was laid out for one period.
    fn pick_of_tick(&mut self, from: usize) {
        if self.rule.positions.is_empty() {
            return;
        }
        let mut picked = picks(&self.rule.positions, (self.ready.len() - from) as i64);
        picked.sort_unstable();
        picked.dedup();
        let picked: Vec<i64> = picked.into_iter().map(|at| self.ready[from + at]).collect();
        self.ready.truncate(from);
        self.ready.extend(picked);
    }
}
