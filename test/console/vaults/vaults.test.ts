import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationMs } from '../../../console/src/formats/durations.ts'
import { cutTo } from '../../../console/src/pages/vault/files/file-names.ts'
import { valuesOf } from '../../../console/src/pages/vault/latest/latest-readings.ts'
import {
  isShorter,
  keptOf,
  problemOf,
} from '../../../console/src/pages/vault/retention/wanted-retention.ts'
import { anchorSteps } from '../../../console/src/pages/vault/twin/anchor-steps.ts'
import {
  badCodes,
  codesIn,
  payloadDoubt,
} from '../../../console/src/pages/vaults/new/vault-draft.ts'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const duration = fc.record({
  count: fc.integer({ min: 1, max: 36_500 }),
  unit: fc.constantFrom('s', 'm', 'h', 'd'),
})

describe('durations', () => {
  test('are so many of their unit', () => {
    fc.assert(
      fc.property(duration, ({ count, unit }) => {
        expect(durationMs(`${count}${unit}`)).toBe(count * units[unit])
      }),
    )
  })

  test.each(['', '0d', '30', 'd', '1.5h', '-1d', '1 d', '1w', '1d1h'])('are not %j', (text) => {
    expect(durationMs(text)).toBeUndefined()
  })

  test('of a retention are from a minute to a hundred years, or nothing', () => {
    expect(['', ' ', '1m', '36500d'].map(problemOf)).toEqual(Array(4).fill(undefined))
    expect(['59s', '36501d', 'soon', '0d'].filter((text) => problemOf(text))).toHaveLength(4)
  })

  test('that are shorter lose something, and for ever is the longest', () => {
    const kept = fc.option(duration.map(({ count, unit }) => `${count}${unit}`))
    fc.assert(
      fc.property(kept, kept, (before, after) => {
        const [long, short] = [before, after].map((text) =>
          text === null ? Number.POSITIVE_INFINITY : (durationMs(text) ?? 0),
        )
        expect(isShorter(before, after)).toBe((short ?? 0) < (long ?? 0))
      }),
    )
    expect(keptOf('  ')).toBeNull()
  })
})

describe('names of files', () => {
  test('have as many letters as are taken, and none that is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 10, max: 60 }), (name, max) => {
        const cut = cutTo(name, max)
        expect(Array.from(cut).length).toBeLessThanOrEqual(max)
        expect(cut).not.toBe('')
        expect(cut).toMatch(/^[^/\\\p{Cc}]+$/u)
      }),
    )
  })

  test('keep their ending when they are cut', () => {
    expect(cutTo(`${'a'.repeat(100)}.pdf`, 20)).toBe(`${'a'.repeat(16)}.pdf`)
    expect(cutTo('report.pdf', 20)).toBe('report.pdf')
  })
})

describe('asset codes', () => {
  test('are found again in what is typed, each once', () => {
    const code = fc.stringMatching(/^[A-Z0-9]{1,20}$/).filter((text) => text !== 'XRP')
    const between = fc.constantFrom(' ', ', ', '\n', '  ', ';')
    fc.assert(
      fc.property(fc.uniqueArray(code), between, (codes, mark) => {
        expect(codesIn([...codes, ...codes].join(mark))).toEqual(codes)
        expect(badCodes(codes)).toEqual([])
      }),
    )
  })

  test('are none where a ledger or a path would not take them', () => {
    const bad = ['XRP', '.', '..', 'a/b', 'ä', 'A'.repeat(21)]
    expect(badCodes(bad)).toEqual(bad)
  })
})

test('a payload that begins like JSON and is none is doubted, and nothing else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(payloadDoubt(JSON.stringify(value, undefined, 2))).toBeUndefined()
    }),
  )
  expect(payloadDoubt('serial 8')).toBeUndefined()
  expect(payloadDoubt('{"serial": 8')).toContain('not JSON')
})

describe('values of a reading', () => {
  test('stand in the order of the fields, with their units', () => {
    const fields = [
      { name: 'temperature', type: 'number', unit: 'Cel' },
      { name: 'count', type: 'integer' },
    ]
    const reading = { streamId: 's', timestamp: 't', count: 3, other: true, temperature: 8 }
    expect(valuesOf(reading, { fields })).toEqual([
      { name: 'temperature', value: 8, unit: 'Cel' },
      { name: 'count', value: 3, unit: undefined },
      { name: 'other', value: true, unit: undefined },
    ])
  })
})

describe('the way to the ledger', () => {
  const way = ['SERVICE_RECEIVED', 'METADATA_STORED', 'LEDGER_SUBMITTED', 'COMPLETED']
  const done = (count: number) =>
    way.slice(0, count).map((status, at) => ({
      step: at + 1,
      status,
      completed_at: `2026-01-01T00:00:0${at}Z`,
    }))

  test.each([1, 2, 3, 4])('after %i steps has the next one under way', (count) => {
    const steps = anchorSteps({ status: way[count - 1] ?? '', progress: done(count) })
    expect(steps.map(({ status }) => status)).toEqual(way)
    expect(steps.filter(({ is }) => is === 'done')).toHaveLength(count)
    expect(steps.filter(({ is }) => is === 'next')).toHaveLength(count === 4 ? 0 : 1)
  })

  test('that ended early has nothing under way', () => {
    const steps = anchorSteps({ status: 'ERROR', progress: done(2) })
    expect(steps.map(({ is }) => is)).toEqual(['done', 'done', 'failed', 'to-come', 'to-come'])
  })
})
