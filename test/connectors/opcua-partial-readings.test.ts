import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PartialReadings, type TimedReading } from '../../connectors/opcua/partial-readings.ts'

const fields = ['a', 'b', 'c'] as const

/** A value of a field, at a second of a minute. */
interface Told {
  readonly field: string
  readonly second: number
}

const timeOf = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}Z`

function add(partial: PartialReadings, { field, second }: Told): void {
  partial.add(timeOf(second), field, { text: String(second) })
}

function shown(readings: readonly TimedReading[]): string[] {
  return readings.map(
    ({ time, fields: values }) => `${time} ${[...values.keys()].toSorted().join('')}`,
  )
}

/** Which fields have a value at which second: each item tells its values in their order, and all do so mixed up. */
const histories = fc
  .array(fc.subarray([...fields], { minLength: 1 }), { minLength: 1, maxLength: 40 })
  .chain((seconds) => {
    const lists = fields.map((field) =>
      seconds.flatMap((some, second) => (some.includes(field) ? [{ field, second }] : [])),
    )
    const turns = lists.flatMap((list, place) => list.map(() => place))
    return fc.record({
      seconds: fc.constant(seconds),
      told: fc
        .shuffledSubarray(turns, { minLength: turns.length, maxLength: turns.length })
        .map((order) => {
          const left = lists.map((list) => [...list])
          return order.map((place) => left[place]?.shift() as Told)
        }),
    })
  })

describe('values of one time', () => {
  test('are one reading, however they are spread over notifications, restarts and repetitions', () => {
    const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 9 }), ends: fc.boolean() }))
    fc.assert(
      fc.property(histories, cuts, ({ seconds, told }, notifications) => {
        let nowMs = 0
        const needs = { fields, waitMs: 1_000, nowMs: () => nowMs }
        let partial = new PartialReadings(needs)
        const readings: TimedReading[] = []
        const rest = [...told]
        for (const { size, ends } of [...notifications, { size: told.length, ends: false }]) {
          const taken = rest.splice(0, size)
          for (const one of taken) add(partial, one)
          // A server that tells the last one once more says nothing new.
          const again = taken.at(-1)
          const isOpen = again && partial.saved.some(({ time }) => time === timeOf(again.second))
          if (again && isOpen) add(partial, again)
          readings.push(...partial.take(false))
          // What is kept with the position goes on in another process.
          const kept = JSON.parse(JSON.stringify(partial.saved))
          if (ends) partial = new PartialReadings(needs, kept)
          nowMs += 1
        }
        nowMs += 1_000
        readings.push(...partial.take(false))
        const wanted = seconds.map((some, second) => `${timeOf(second)} ${some.join('')}`)
        expect(new Set(shown(readings))).toEqual(new Set(wanted))
        expect(partial.saved).toEqual([])
      }),
    )
  })

  test('wait as long as they may be apart, and longer only while the server says that it has more', () => {
    let nowMs = 0
    const partial = new PartialReadings({ fields, waitMs: 1_000, nowMs: () => nowMs })
    add(partial, { field: 'a', second: 1 })
    expect(partial.take(false)).toEqual([])
    expect(partial.dueInMs).toBe(1_000)
    nowMs = 900
    expect(partial.take(true)).toEqual([])
    expect(partial.dueInMs).toBe(1_000)
    nowMs = 1_900
    expect(shown(partial.take(false))).toEqual([`${timeOf(1)} a`])
    add(partial, { field: 'a', second: 2 })
    for (let turn = 0; turn < 70 && partial.saved.length > 0; turn++) {
      nowMs += 999
      partial.take(true)
    }
    expect(partial.saved).toEqual([])
  })

  test('need not wait for items that have told a later value, nor for any where all are there', () => {
    const partial = new PartialReadings({ fields, waitMs: 1_000, nowMs: () => 0 })
    add(partial, { field: 'a', second: 1 })
    for (const field of ['a', 'b']) add(partial, { field, second: 2 })
    expect(partial.take(false)).toEqual([])
    add(partial, { field: 'c', second: 2 })
    expect(shown(partial.take(false))).toEqual([`${timeOf(1)} a`, `${timeOf(2)} abc`])
  })

  test('of one item are several readings where they differ', () => {
    const partial = new PartialReadings({ fields: ['a', 'b'], waitMs: 0, nowMs: () => 0 })
    for (const text of ['1', '2', '2']) partial.add(timeOf(1), 'a', { text })
    for (const text of ['3', '4']) partial.add(timeOf(1), 'b', { text })
    const found = partial.take(false).map(({ fields: values }) => Object.fromEntries(values))
    expect(found).toEqual([
      { a: { text: '1' }, b: { text: '3' } },
      { a: { text: '2' }, b: { text: '4' } },
    ])
  })

  test('of one item are several readings behind a restart, too', () => {
    const needs = { fields: ['a', 'b'], waitMs: 0, nowMs: () => 0 }
    const before = new PartialReadings({ ...needs, waitMs: 1_000 })
    before.add(timeOf(1), 'a', { text: '1' })
    const partial = new PartialReadings(needs, before.saved)
    partial.add(timeOf(1), 'a', { text: '2' })
    partial.add(timeOf(1), 'b', { text: '3' })
    const found = partial.take(false).map(({ fields: values }) => Object.fromEntries(values))
    expect(found).toEqual([{ a: { text: '1' }, b: { text: '3' } }, { a: { text: '2' } }])
  })

  test('take no more room than a position has: the oldest go as they are', () => {
    const partial = new PartialReadings({ fields, waitMs: 1_000, nowMs: () => 0 })
    const text = JSON.stringify('x'.repeat(300_000))
    let gone = 0
    for (let second = 0; second < 10; second++) {
      partial.add(timeOf(second), 'a', { text })
      gone += partial.take(true).length
    }
    expect(gone).toBe(7)
    expect(partial.saved).toHaveLength(3)
  })
})
