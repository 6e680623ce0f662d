import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { storedFields } from '../../../console/src/formats/stored-fields.ts'
import {
  chosenFields,
  drawnMax,
  fieldsParameter,
} from '../../../console/src/pages/stream/field-names.ts'
import { plotDataOf } from '../../../console/src/pages/stream/history/plot-data.ts'
import {
  clockText,
  rangeOf,
  typedRange,
  widerRange,
  wordsOf,
} from '../../../console/src/pages/stream/history/range.ts'
import { missingIn, terms } from '../../../console/src/pages/stream/status/ledger.ts'
import { storedFieldsOf } from '../../../src/streams/data-streams/transform-definition.ts'

const nowMs = Date.UTC(2026, 0, 31)

test('a range of one own comes out of the address as it went in', () => {
  const ms = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) })
  fc.assert(
    fc.property(ms, ms, (one, other) => {
      fc.pre(one !== other)
      const range = { fromMs: Math.min(one, other), toMs: Math.max(one, other) }
      const { start = '', end = '' } = wordsOf(range)
      expect(rangeOf({ range: '', start, end }, nowMs)).toEqual({ ...range, preset: undefined })
    }),
  )
})

test('what is no range is that of a day', () => {
  for (const range of ['', 'x', '2h', 'toString']) {
    const { preset, fromMs, toMs } = rangeOf({ range, start: 'x', end: '' }, nowMs)
    expect({ preset, toMs, hours: (toMs - fromMs) / 3_600_000 }).toEqual({
      preset: '24h',
      toMs: nowMs,
      hours: 24,
    })
  }
  expect(rangeOf({ range: '7d', start: '', end: '' }, nowMs).preset).toBe('7d')
})

test('years that no clock shows are no range', () => {
  const end = '2026-11-27T00:00:00Z'
  for (const start of ['-007561-11-17T03:42:30.000Z', '0002-01-01T00:00:00Z']) {
    expect(rangeOf({ range: '', start, end }, nowMs).preset).toBe('24h')
  }
  const [start, beyond] = ['2026-11-27T00:00:00Z', '+012026-11-27T00:00:00Z']
  expect(rangeOf({ range: '', start, end: beyond }, nowMs).preset).toBe('24h')
})

/** What is offered some seconds after a preset was chosen. */
function wordsAfter(range: string) {
  return widerRange(rangeOf({ range, start: '', end: '' }, nowMs), nowMs + 5000).words
}

describe('what is wider than a range', () => {
  test('is the next preset that reaches back further', () => {
    expect(wordsAfter('1h')).toMatchObject({ range: '24h', start: undefined })
    expect(wordsAfter('24h')).toMatchObject({ range: '7d' })
    expect(wordsAfter('30d')).toMatchObject({ range: undefined })
  })

  test('holds all of it, wherever it is', () => {
    const ms = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) })
    fc.assert(
      fc.property(ms, ms, (one, other) => {
        fc.pre(one !== other)
        const range = { fromMs: Math.min(one, other), toMs: Math.max(one, other) }
        const { words } = widerRange(range, nowMs)
        const { range: preset = '', start = '', end = '' } = words
        const wider = rangeOf({ range: preset, start, end }, nowMs)
        expect(wider.fromMs).toBeLessThanOrEqual(range.fromMs)
        expect(wider.toMs).toBeGreaterThanOrEqual(range.toMs)
        expect(wider.toMs - wider.fromMs).toBeGreaterThan(range.toMs - range.fromMs)
      }),
    )
  })
})

describe('the ends of a range, as clocks show them', () => {
  const ms = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) })
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu')

  test('stay the instants that they are where nothing is typed', () => {
    fc.assert(
      fc.property(ms, ms, zones, (fromMs, toMs, zone) => {
        const shown = { from: clockText(fromMs, zone), to: clockText(toMs, zone) }
        expect(typedRange({ fromMs, toMs }, shown, zone)).toEqual({ fromMs, toMs })
      }),
    )
  })

  test('are what the clocks show where something is typed', () => {
    fc.assert(
      fc.property(ms, ms, zones, (fromMs, otherMs, zone) => {
        const typed = { from: clockText(otherMs, zone), to: clockText(fromMs, zone) }
        const range = typedRange({ fromMs, toMs: fromMs }, typed, zone)
        expect(clockText(range.fromMs, zone)).toBe(typed.from)
        expect(range.toMs).toBe(fromMs)
      }),
    )
  })

  test('are no times before they are typed to the end', () => {
    const { fromMs, toMs } = typedRange(
      { fromMs: 0, toMs: 1 },
      { from: '', to: '2026-05-04T10:00' },
      'Europe/Berlin',
    )
    expect([fromMs, toMs]).toEqual([Number.NaN, Date.UTC(2026, 4, 4, 8)])
  })
})

const fieldName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/)

test('names of fields come out of the address as they went in', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fieldName, { minLength: 1, maxLength: drawnMax }), (names) => {
      const all = ['not chosen', ...names]
      const fields = all.map((name) => ({ name, type: 'number', unit: undefined }))
      const found = chosenFields(fieldsParameter(names), fields)
      expect(found.map(({ name }) => name)).toEqual(names)
    }),
  )
})

function at(minute: number, v: number | undefined, count: number) {
  return {
    timestamp: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    count,
    ...(v !== undefined && { v, 'v:min': v - 1, 'v:max': v + 1 }),
  }
}

describe('points of a field', () => {
  const bucket = { aggregation: 'minutely', ms: 60_000, name: 'minute' }

  test('are those that have it, with their least and greatest value', () => {
    const data = plotDataOf(
      { points: [at(0, 5, 20), at(1, undefined, 20), at(2, 7, 20)], bucket },
      'v',
    )
    expect([...data.middle]).toEqual([5, 7])
    expect([...(data.least ?? [])]).toEqual([4, 6])
    expect([...(data.greatest ?? [])]).toEqual([6, 8])
  })

  test('have a gap at each empty bucket, where buckets have many readings', () => {
    const points = [at(0, 1, 60), at(1, 1, 60), at(3, 1, 60)]
    expect(plotDataOf({ points, bucket }, 'v').gapMs).toBeLessThan(120_000)
  })

  test('have none where readings are usually further apart than buckets', () => {
    const points = [0, 5, 10, 16, 20].map((minute) => at(minute, 1, 1))
    expect(plotDataOf({ points, bucket }, 'v').gapMs).toBe(15 * 60_000)
  })

  test('are no line where there is one', () => {
    const data = plotDataOf({ points: [at(0, 5, 1)], bucket: undefined }, 'v')
    expect(data).toMatchObject({ middle: [5], gapMs: Number.POSITIVE_INFINITY })
    expect(plotDataOf({ points: [], bucket: undefined }, 'v').times).toEqual([])
  })
})

test('the ledger adds up when each reading is one term', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(1000), { minLength: 7, maxLength: 7 }),
      fc.integer({ min: -5, max: 5 }),
      (parts, off) => {
        const counts = Object.fromEntries(terms.map(({ key }, nth) => [key, parts[nth] ?? 0]))
        const received = parts.reduce((sum, part) => sum + part, 0) + off
        expect(missingIn({ ...counts, received } as Parameters<typeof missingIn>[0])).toBe(off)
      },
    ),
  )
})

test('fields after a transform are those that the service stores', () => {
  const schema = {
    t: { type: 'number', unit: 'degF' },
    rpm: { type: 'integer' },
    serial: { type: 'string' },
  } as const
  const processing = {
    transform: [
      { rename: { from: 't', to: 'temperature' } },
      { convert: { field: 'temperature', from: 'degF', to: 'degC' } },
      { filter: { expression: 'rpm > 0' } },
      { derive: { field: 'hot', type: 'boolean', expression: 'temperature > 80' } },
      { scale: { field: 'rpm', factor: 2, offset: 0 } },
      { drop: { field: 'serial' } },
    ],
  }
  const expected = Object.entries(storedFieldsOf({ schema, processing })).map(
    ([name, { type, unit }]) => ({
      name,
      type,
      unit,
    }),
  )
  expect(storedFields({ schema, processing })).toEqual(expected)
})
