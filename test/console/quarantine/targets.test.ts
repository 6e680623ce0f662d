import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countOf,
  type EntryFilter,
  portionsOf,
  reachOf,
  type Summary,
} from '../../../console/src/quarantine/entries.ts'
import { startOf } from '../../../console/src/quarantine/filters.tsx'
import {
  isMeantBy,
  targetsOfChosen,
  targetsOfFilter,
} from '../../../console/src/quarantine/targets.ts'

const chosen = fc.uniqueArray(
  fc.record({
    streamId: fc.constantFrom('s', 't', 'u'),
    streamName: fc.constant('name'),
    id: fc.nat(5_000),
  }),
  { selector: ({ streamId, id }) => `${streamId}/${id}`, maxLength: 2_000 },
)

describe('chosen entries', () => {
  test('are asked for once each, in portions that one request takes', () => {
    fc.assert(
      fc.property(chosen, (some) => {
        const targets = targetsOfChosen(some)
        const asked = targets.flatMap(({ streamId, ids = [] }) =>
          ids.map((id) => `${streamId}/${id}`),
        )
        expect(asked.toSorted()).toEqual(
          some.map(({ streamId, id }) => `${streamId}/${id}`).toSorted(),
        )
        for (const { ids = [], entries } of targets) {
          expect(ids.length).toBeLessThanOrEqual(500)
          expect(ids.length).toBeGreaterThan(0)
          expect(entries).toBe(ids.length)
        }
      }),
      { numRuns: 50 },
    )
  })
})

function group(streamId: string, reason: string, entries: number) {
  return { streamId, streamName: `stream ${streamId}`, reason, entries }
}

function filter(wanted: Partial<EntryFilter>): EntryFilter {
  return { streamId: '', reason: '', start: '', ...wanted }
}

describe('all that meet a filter', () => {
  const summary: Summary = {
    entries: 10,
    reasons: [
      { reason: 'malformed', entries: 7 },
      { reason: 'schema_mismatch', entries: 3 },
    ],
    groups: [
      group('s', 'malformed', 5),
      group('t', 'schema_mismatch', 3),
      group('t', 'malformed', 2),
    ],
    groupCount: 3,
  }
  test.each([
    [{}, 10],
    [{ reason: 'malformed' }, 7],
    [{ streamId: 't' }, 5],
    [{ streamId: 't', reason: 'malformed' }, 2],
    [{ streamId: 'x' }, 0],
    [{ start: '2026-01-01T00:00:00Z' }, undefined],
  ])('%o are %s', (wanted, count) => {
    expect(countOf(summary, filter(wanted))).toBe(count)
  })

  test('are chosen as far as their streams are known by name', () => {
    const more = { ...summary, reasons: summary.reasons.map((one) => ({ ...one, entries: 50 })) }

    expect(reachOf(summary, filter({}))).toEqual({ isPart: false, entries: 10 })
    expect(reachOf(more, filter({}))).toEqual({ isPart: true, entries: 10 })
    expect(reachOf(more, filter({ reason: 'malformed' }))).toEqual({ isPart: true, entries: 7 })
    expect(reachOf(more, filter({ streamId: 't' }))).toEqual({ isPart: false, entries: 5 })
    const start = '2026-01-01T00:00:00Z'
    expect(reachOf(more, filter({ start }))).toEqual({ isPart: true, entries: undefined })
  })

  test('are asked for stream by stream, the one with the most first', () => {
    const wanted = filter({ reason: 'malformed' })

    expect(targetsOfFilter(portionsOf(summary, wanted), wanted)).toEqual([
      { streamId: 's', name: 'stream s', reason: 'malformed', entries: 5 },
      { streamId: 't', name: 'stream t', reason: 'malformed', entries: 2 },
    ])
    expect(targetsOfFilter(portionsOf(summary, filter({})), filter({}))).toEqual([
      { streamId: 's', name: 'stream s', entries: 5 },
      { streamId: 't', name: 'stream t', entries: 5 },
    ])
  })

  test('are, where they are a part, those that were counted, and nothing else is meant', () => {
    const reasons = summary.reasons.map((one) => ({ ...one, entries: 50 }))
    const part = { ...summary, reasons, groups: summary.groups.slice(0, 2) }
    const targets = targetsOfFilter(portionsOf(part, filter({})), filter({}))

    expect(targets).toEqual([
      { streamId: 's', name: 'stream s', reason: 'malformed', entries: 5 },
      { streamId: 't', name: 'stream t', reason: 'schema_mismatch', entries: 3 },
    ])
    const isMeant = isMeantBy(targets)
    const meant = (streamId: string, reason: string) => isMeant({ streamId, reason })
    expect([meant('s', 'malformed'), meant('t', 'schema_mismatch')]).toEqual([true, true])
    expect([meant('t', 'malformed'), meant('u', 'malformed')]).toEqual([false, false])
    const whole = isMeantBy(targetsOfFilter(portionsOf(summary, filter({})), filter({})))
    expect(whole({ streamId: 't', reason: 'timestamp_invalid' })).toBe(true)
  })
})

describe('a span of time', () => {
  test.each(['', 'x', '0h', '1w', '-1h', '99999d', '1h '])('"%s" is none', (text) => {
    expect(startOf(text)).toBe('')
  })

  test('begins that long ago', () => {
    const ago = Date.now() - Date.parse(startOf('24h'))

    expect(Math.abs(ago - 86_400_000)).toBeLessThan(60_000)
  })
})
