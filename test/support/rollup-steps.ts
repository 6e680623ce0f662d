import * as fc from 'fast-check'
import type { Buckets } from '../../src/storage/time-series/aggregate-query.ts'
import type { Notes, Question, Step } from './rollup-history.ts'
import { hourUs, marchUs } from './stored-readings.ts'

const minuteUs = 60_000_000
const dayUs = 24 * hourUs

/**
 * Few enough that readings meet: around the turn of a month, and where New York, Berlin, Lord Howe and Santiago
 * change their clocks.
 */
const timeUs = fc
  .tuple(fc.constantFrom(0, 0, 7, 28, 35), fc.integer({ min: -20, max: 40 }))
  .map(([day, part]) => marchUs + day * dayUs + part * 13 * minuteUs)

const readings: fc.Arbitrary<Notes[]> = fc.array(
  fc.record({ stream: fc.nat(1), timestampUs: timeUs, digest: fc.nat(5), shape: fc.nat(1) }),
  { maxLength: 12 },
)

const shipping = fc.record({ kind: fc.constant('ship' as const), readings })
const removing = fc.record({
  kind: fc.constant('remove' as const),
  stream: fc.nat(1),
  startUs: timeUs,
  endUs: fc.oneof(timeUs, fc.constant(253_402_300_800_000_000)),
})
const expiring = fc.record({
  kind: fc.constant('expire' as const),
  stream: fc.nat(1),
  beforeUs: timeUs,
})
const settlingLate = fc.constant({ kind: 'placeLate' as const })
const rollingUp = fc.constant({ kind: 'rollUp' as const })

/** What may happen to two streams. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: shipping },
  { weight: 2, arbitrary: removing },
  { weight: 1, arbitrary: expiring },
  { weight: 1, arbitrary: settlingLate },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), readings }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
  { weight: 6, arbitrary: rollingUp },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('rollUpBeside' as const),
      beside: fc.oneof(shipping, removing, expiring, settlingLate, rollingUp),
    }),
  },
)

const buckets: fc.Arbitrary<Buckets> = fc.oneof(
  fc.record({
    kind: fc.constant('fixed' as const),
    widthUs: fc.constantFrom(15, 30, 45, 60, 90, 360, 1_440).map((width) => width * minuteUs),
  }),
  fc.record({
    kind: fc.constant('calendar' as const),
    unit: fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'month' as const),
    units: fc.constant(1),
    zone: fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'America/Santiago',
      'Asia/Kolkata',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
    ),
  }),
)

/** What may be asked about them. */
export const question: fc.Arbitrary<Question> = fc
  .record({
    buckets,
    startUs: fc.oneof(fc.constant(0), timeUs),
    endUs: fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), timeUs),
    level: fc.constantFrom('bigint' as const, 'double' as const),
    isUnited: fc.boolean(),
    limit: fc.constantFrom(100, 10_000),
    isFilled: fc.boolean(),
  })
  .map(({ isFilled, ...rest }) => {
    const isBounded = rest.startUs > 0 && rest.endUs < Number.MAX_SAFE_INTEGER
    const fill: 'none' | 'previous' = isFilled && isBounded ? 'previous' : 'none'
    const isLong = rest.endUs - rest.startUs > 3 * dayUs
    return { ...rest, fill: isLong ? 'none' : fill }
  })
