import type { ConsumerPace } from './consumer.ts'

/**
 * Each stream of a round costs the decider a row, so it works for a small part of the time only, and has more
 * entries of each then. Where readings meet rules it is more often at it: alerts must not wait, neither behind a
 * round of a second that thousands of timers have made, nor the first of them behind a rest of many seconds.
 */
export const deciderPace: ConsumerPace = {
  entriesMax: 50_000,
  intervalMs: 40,
  urgentIntervalMs: 8,
  shareMax: 0.15,
  restMsMax: 1_000,
  urgentShareMax: 0.25,
  urgentRestMsMax: 200,
}

/**
 * What a transaction of the shipper costs goes with the tables it touches. It rests while less than a full one waits, or
 * it would be at it all the time with halves of them, and take from acknowledgements what it has no use for. Readings
 * are stored half a second later for that, at most.
 */
export const shipperPace: ConsumerPace = {
  entriesMax: 10_000,
  intervalMs: 100,
  shareMax: 0.7,
  restMsMax: 500,
}
