import { expect, test } from 'vitest'
import { findReadings, type KnownOfTime } from '../../src/evidence/receipts/find-readings.ts'
import type { HeldRefusal } from '../../src/evidence/receipts/held-refusals.ts'
import { matchAlerts } from '../../src/evidence/receipts/match-alerts.ts'
import type { AlertStep } from '../../src/evidence/receipts/moved-alerts.ts'
import { kindAccepted, kindQuarantined } from '../../src/ingest/pipeline/entry.ts'
import type { EntriesAt, FoundEntry } from '../../src/reading/live/entries-at.ts'
import type { ArrivedPoint } from '../../src/storage/time-series/readings-query.ts'

const timestampUs = 1_000

function point(notes: Partial<ArrivedPoint> = {}): ArrivedPoint {
  return { timestampUs, values: { level: 1 }, digest: 1n, receivedAtUs: 50, ...notes }
}

function entry(offset: number, notes: Partial<FoundEntry> = {}): FoundEntry {
  const header = { offset, kind: kindAccepted, streamVersion: 1, receivedAtUs: 50, digest: 1n }
  return { ...header, values: '{"level":1}', ...notes }
}

function refused(offset: number, notes: Partial<FoundEntry> = {}): FoundEntry {
  const { values: _, ...header } = entry(offset, { kind: kindQuarantined, digest: 0n })
  const refusal = { reason: 'malformed', message: 'no', details: [], source: 'mqtt' }
  return { ...header, refusal, ...notes }
}

function held(offset: number): HeldRefusal {
  const refusal = { reason: 'stale', message: 'no', details: [], source: 'mqtt', sender: null }
  return { ...refusal, offset, streamVersion: 2, receivedAtUs: 50 }
}

interface Notes extends Partial<Omit<KnownOfTime, 'stored' | 'journal'>> {
  readonly points?: readonly ArrivedPoint[]
  readonly position?: number
  readonly hasMorePoints?: boolean
  readonly journal?: Partial<EntriesAt>
}

function known({ points = [], position = 100, hasMorePoints = false, ...notes }: Notes) {
  const journal = { entries: [], hasMore: false, removals: [], from: 0, until: 100, isPart: false }
  return {
    timestampUs,
    held: [],
    decidedUntil: 100,
    counts: { deleted: 0, keptFromUs: 0 },
    notTaken: new Map(),
    deduplicating: new Set<number>(),
    ...notes,
    stored: { points, position, hasMore: hasMorePoints },
    journal: { ...journal, ...notes.journal },
  }
}

/** The outcome of each reading, its place in the journal, and what is missing. */
function found(notes: Notes): readonly (readonly unknown[])[] {
  return findReadings(known(notes)).map(({ outcome, offset, missing }) => [
    outcome,
    offset,
    ...missing.map(({ what, reason }) => `${what} ${reason}`),
  ])
}

test('an entry that the store has not come to is pending, also when it has an equal reading', () => {
  const journal = { entries: [entry(3), entry(100)] }
  expect(found({ points: [point()], journal })).toEqual([
    ['stored', 3],
    ['pending', 100],
  ])
  expect(found({ points: [], position: 3, journal: { entries: [entry(3)] } })).toEqual([
    ['pending', 3],
  ])
})

test('a store that knows offsets tells equal readings of one moment from each other', () => {
  const entries = [entry(3), entry(4)]
  expect(found({ points: [point({ offset: 4 })], journal: { entries } })).toEqual([
    ['stored', 4],
    ['duplicate', 3],
  ])
  expect(found({ points: [point()], journal: { entries } })).toEqual([
    ['stored', 3],
    ['duplicate', 4],
  ])
})

test('an entry before a removal is gone, and one that came in at the same moment is stored', () => {
  const journal = { entries: [entry(3), entry(9)], removals: [5] }
  expect(found({ points: [point()], journal })).toEqual([
    ['stored', 9],
    ['gone', 3, 'reading removed'],
  ])
})

test('a removal that the store has not come to has taken nothing yet', () => {
  const journal = { entries: [entry(3)], removals: [100] }
  expect(found({ points: [point()], journal })).toEqual([['stored', 3]])
})

test('a reading that the server did not take is gone, with its message', () => {
  const notTaken = new Map([[3, 'no such column']])
  const [reading] = findReadings(known({ notTaken, journal: { entries: [entry(3)] } }))
  expect(reading).toMatchObject({ outcome: 'gone', missing: [{ reason: 'not_kept' }] })
  expect(reading?.missing[0]?.message).toContain('no such column')
})

test('a reading that is not stored is unchanged, expired, removed, or gone for an unknown reason', () => {
  const journal = { entries: [entry(3)] }
  expect(found({ journal, deduplicating: new Set([1]) })).toEqual([['unchanged', 3]])
  expect(found({ journal, deduplicating: new Set([2]) })).toEqual([['gone', 3, 'reading not_kept']])
  const expired = { deleted: 0, keptFromUs: timestampUs + 1 }
  expect(found({ journal, counts: expired })).toEqual([['gone', 3, 'reading expired']])
  const removed = { deleted: 1, keptFromUs: timestampUs }
  expect(found({ journal, counts: removed })).toEqual([['gone', 3, 'reading removed']])
})

test('nothing is said of an entry whose reading may be among those that did not fit in', () => {
  const journal = { entries: [entry(3, { digest: 7n })] }
  expect(found({ points: [point()], hasMorePoints: true, journal })).toHaveLength(1)
})

test('a stored reading without an entry has a reason', () => {
  expect(reasonWith({})).toBe('trimmed')
  expect(reasonWith({ isPart: true })).toBe('not_searched')
  expect(reasonWith({ hasMore: true })).toBe('not_searched')
})

/** Why a stored reading has no entry in such a journal. */
function reasonWith(journal: Partial<EntriesAt>): string | undefined {
  const [reading] = findReadings(known({ points: [point({ offset: 4 })], journal }))
  return reading?.journalProblem?.reason
}

test('a refused reading has the reason of the quarantine, and a place also without an entry', () => {
  const readings = findReadings(
    known({ held: [held(3), held(1)], journal: { entries: [refused(3)] } }),
  )
  expect(readings).toMatchObject([
    { outcome: 'quarantined', offset: 3, version: 2, refusal: { reason: 'stale' } },
    { offset: 1, refusal: { reason: 'stale' }, journalProblem: { reason: 'trimmed' } },
  ])
})

test('a refused reading that is not in the quarantine has a reason', () => {
  const entries = [
    refused(3, { ended: { offset: 8, isRedriven: true } }),
    refused(4, { ended: { offset: 9, isRedriven: false } }),
    refused(5),
    refused(100),
  ]
  expect(found({ journal: { entries } })).toEqual([
    ['quarantined', 3, 'quarantine removed'],
    ['quarantined', 4, 'quarantine removed'],
    ['quarantined', 5, 'quarantine not_kept'],
    ['quarantined', 100],
  ])
})

test('a refused reading is left out where its redriven one is of the same time', () => {
  const ended = { offset: 8, isRedriven: true }
  const redriven = entry(8, { origin: { offset: 3, index: 0 } })
  const journal = { entries: [refused(3, { ended }), redriven] }
  expect(found({ points: [point()], journal })).toEqual([['stored', 8]])
})

function step(journalOffset: number, reading: string): AlertStep {
  const ids = { alertId: 'alert', ruleId: 'rule', eventId: null }
  const states = { cause: 'reading', from: 'ok', to: 'firing' }
  return { ...ids, ...states, step: 0, atUs: timestampUs, journalOffset, receivedAtUs: 50, reading }
}

test('a step belongs to the reading of its entry, else of its values, else to one that is gone', () => {
  const points = [point(), point({ digest: 2n, values: { level: 2 } })]
  const facts = known({ points, journal: { entries: [entry(3)] } })
  const steps = [step(3, '{"level":1}'), step(1, '{"level":2}'), step(2, '{"level":3}')]
  const counts = { deleted: 0, keptFromUs: 0, unchanged: 0 }

  const readings = matchAlerts(findReadings(facts), steps, { ...facts, counts })

  expect(
    readings.map(({ outcome, offset, steps: own, point: of }) => [
      outcome,
      offset,
      of?.values['level'],
      own.length,
    ]),
  ).toEqual([
    ['stored', 3, 1, 1],
    ['stored', 1, 2, 1],
    ['gone', 2, 3, 1],
  ])
})

test('a step of a duplicate is not that of the stored reading, whose values are the same', () => {
  const journal = { entries: [entry(8, { receivedAtUs: 60 })] }
  const facts = known({ points: [point()], journal })
  const counts = { deleted: 0, keptFromUs: 0, unchanged: 0 }

  const readings = matchAlerts(findReadings(facts), [step(8, '{"level":1}')], { ...facts, counts })

  expect(readings.map(({ outcome, offset, steps }) => [outcome, offset, steps.length])).toEqual([
    ['stored', undefined, 0],
    ['duplicate', 8, 1],
  ])
})

test.each([
  [{ deleted: 0, keptFromUs: timestampUs + 1, unchanged: 1 }, 'gone', 'reading expired'],
  [{ deleted: 1, keptFromUs: 0, unchanged: 0 }, 'gone', 'reading removed'],
  [{ deleted: 1, keptFromUs: 0, unchanged: 1 }, 'gone', 'reading not_kept'],
  [{ deleted: 0, keptFromUs: 0, unchanged: 1 }, 'unchanged', 'text not_kept'],
  [{ deleted: 0, keptFromUs: 0, unchanged: 0 }, 'gone', 'reading not_kept'],
])('a step alone, with %j, shows a reading that is %s', (counts, outcome, missing) => {
  const { journal } = known({})
  const [reading] = matchAlerts([], [step(3, '{"level":1}')], { timestampUs, journal, counts })
  expect(reading?.outcome).toBe(outcome)
  expect(reading?.missing.map(({ what, reason }) => `${what} ${reason}`)).toContain(missing)
})
