import { describe, expect, test } from 'vitest'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import {
  allPoints,
  hourUs,
  marchUs,
  ship,
  shipmentOf,
  storedReading,
} from '../support/stored-readings.ts'
import type { OpenNewStore } from './open-store.ts'
import { timeSeriesAggregatedPagesContract } from './time-series-aggregated-pages-contract.ts'
import { timeSeriesAggregatedValuesContract } from './time-series-aggregated-values-contract.ts'
import { timeSeriesAggregationContract } from './time-series-aggregation-contract.ts'
import { timeSeriesDescendingContract } from './time-series-descending-contract.ts'
import { timeSeriesHistoryContract } from './time-series-history-contract.ts'
import { timeSeriesQueryContract } from './time-series-query-contract.ts'
import { timeSeriesReadingsAtContract } from './time-series-readings-at-contract.ts'
import { timeSeriesSeriesContract } from './time-series-series-contract.ts'
import { timeSeriesSplitContract } from './time-series-split-contract.ts'
import { timeSeriesTextsContract } from './time-series-texts-contract.ts'
import { timeSeriesTimeWeightsContract } from './time-series-time-weights-contract.ts'
import { timeSeriesValuesContract } from './time-series-values-contract.ts'

/**
 * The part of the random cases about aggregated points that `npm test` tries: all of them take longer than the rest
 * together, and are in test/deep/time-series/.
 */
const share = 0.2

/** What every store promises. Each adapter's test calls this once, with a real store. */
export function timeSeriesContract(open: OpenNewStore): void {
  describe('a shipment', () => shipmentContract(open))
  describe('a shipment that fails', () => failureContract(open))
  describe('duplicates', () => duplicatesContract(open))
  describe('counts', () => countsContract(open))
  describe('queries', () => timeSeriesQueryContract(open))
  describe('aggregation', () => timeSeriesAggregationContract(open, share))
  describe('aggregation', () => timeSeriesAggregatedValuesContract(open))
  describe('aggregation', () => timeSeriesAggregatedPagesContract(open))
  describe('series of values', () => timeSeriesSplitContract(open, share))
  describe('averages by time', () => timeSeriesTimeWeightsContract(open, share))
  describe('an answer from behind', () => timeSeriesDescendingContract(open))
  describe('history', () => timeSeriesHistoryContract(open))
  describe('readings of one time', () => timeSeriesReadingsAtContract(open))
  describe('a series', () => timeSeriesSeriesContract(open))
  describe('values', () => timeSeriesValuesContract(open))
  describe('texts', () => timeSeriesTextsContract(open))
}

function shipmentContract(open: OpenNewStore): void {
  test('begins at position 0 with nothing', async () => {
    await using opened = await open()
    const { store } = opened

    expect(store.position()).toBe(0)
    expect(store.totals()).toMatchObject({ stored: 0, duplicates: 0 })
    expect(store.counts('boiler')).toMatchObject({ received: 0, stored: 0, duplicates: 0 })
    expect(await allPoints(store)).toEqual([])
  })

  test('brings rows, counts and position together', async () => {
    await using opened = await open()
    const { store } = opened
    const reading = storedReading()

    await store.write({
      readings: [reading],
      received: new Map([['boiler', 3]]),
      from: 0,
      nextOffset: 3,
    })

    expect(store.position()).toBe(3)
    expect(store.counts('boiler')).toMatchObject({ received: 3, stored: 1, duplicates: 0 })
    expect(await allPoints(store)).toEqual([
      { timestampUs: marchUs, values: { temperature: 21.5 } },
    ])
  })

  test('moves the position even when nothing of it is stored', async () => {
    await using opened = await open()
    const { store } = opened

    await store.write({
      readings: [],
      received: new Map([['boiler', 5]]),
      from: 0,
      nextOffset: 5,
    })
    await opened.reopen()

    expect(opened.store.position()).toBe(5)
    expect(opened.store.counts('boiler')).toMatchObject({ received: 5, stored: 0 })
  })

  test('is all there after the store was opened again', async () => {
    await using opened = await open()
    await ship(opened.store, [
      storedReading({ streamId: 'boiler', timestampUs: marchUs - 1 }),
      storedReading({ streamId: 'boiler', timestampUs: marchUs }),
      storedReading({ streamId: 'pump', timestampUs: marchUs + 40 * 24 * hourUs }),
    ])
    const before = await factsOf(opened.store)

    await opened.reopen()

    expect(await factsOf(opened.store)).toEqual(before)
    expect(before).toMatchObject({ position: 3, totals: { stored: 3 } })
  })
}

function failureContract(open: OpenNewStore): void {
  test('is refused, and changes nothing, when it does not begin at the position', async () => {
    await using opened = await open()
    const { store } = opened
    await ship(store, [storedReading(), storedReading({ streamId: 'pump' })])
    const before = await factsOf(store)

    for (const from of [0, 1, 3, 100]) {
      const shipment = shipmentOf([storedReading(), storedReading({ streamId: 'fan' })], from)
      await expect(store.write(shipment)).rejects.toThrow()
    }

    expect(await factsOf(store)).toEqual(before)
    await opened.reopen()
    expect(await factsOf(opened.store)).toEqual(before)
  })

  test('leaves nothing of its rows behind', async () => {
    await using opened = await open()
    const { store } = opened
    await ship(store, [storedReading()])
    const before = await factsOf(store)

    // A stream of which it has a reading that it says was never received: found after the rows.
    const broken = { ...shipmentOf(severalMonths(), 1), received: new Map([['boiler', 1]]) }
    await expect(store.write(broken)).rejects.toThrow()

    expect(await factsOf(store)).toEqual(before)
    await opened.reopen()
    expect(await factsOf(opened.store)).toEqual(before)
  })

  test('can be shipped again once it is whole', async () => {
    await using opened = await open()
    const { store } = opened
    const readings = severalMonths()
    const whole = shipmentOf(readings, 0)

    await expect(store.write({ ...whole, received: new Map() })).rejects.toThrow()
    await store.write(whole)

    expect(store.position()).toBe(readings.length)
    expect(store.totals()).toMatchObject({ stored: readings.length, duplicates: 0 })
    expect(await allPoints(store, { streamId: 'boiler' })).toHaveLength(3)
    expect(await allPoints(store, { streamId: 'pump' })).toHaveLength(1)
  })
}

/** Duplicates in random histories: see duplicates-model.test.ts. */
function duplicatesContract(open: OpenNewStore): void {
  test('of one shipment are stored once', async () => {
    await using opened = await open()
    const { store } = opened
    const reading = storedReading()

    await ship(store, [reading, { ...reading }, { ...reading }])

    expect(store.counts('boiler')).toMatchObject({ received: 3, stored: 1, duplicates: 2 })
    expect(await allPoints(store)).toHaveLength(1)
  })

  test('of an earlier shipment are stored once, also after it was opened again', async () => {
    await using opened = await open()
    const reading = storedReading()
    await ship(opened.store, [reading])
    await ship(opened.store, [reading])
    await opened.reopen()
    await ship(opened.store, [reading])

    expect(opened.store.counts('boiler')).toMatchObject({ received: 3, stored: 1, duplicates: 2 })
    expect(await allPoints(opened.store)).toHaveLength(1)
  })

  test('are not readings with one timestamp and different values', async () => {
    await using opened = await open()
    await ship(opened.store, [storedReading({ digest: 1n }), storedReading({ digest: 2n })])

    expect(opened.store.counts('boiler')).toMatchObject({ stored: 2, duplicates: 0 })
  })

  test('are not readings with equal values of another time or another stream', async () => {
    await using opened = await open()
    const reading = storedReading()
    await ship(opened.store, [
      reading,
      { ...reading, timestampUs: reading.timestampUs + 1 },
      { ...reading, streamId: 'pump' },
    ])

    expect(opened.store.totals()).toMatchObject({ stored: 3, duplicates: 0 })
  })
}

function countsContract(open: OpenNewStore): void {
  test('measure the time from receipt to store', async () => {
    let nowUs = marchUs
    await using opened = await open({ nowUs: () => nowUs })
    const { store } = opened
    await ship(store, [
      storedReading({ receivedAtUs: marchUs - 3_000 }),
      storedReading({ receivedAtUs: marchUs - 1_000 }),
    ])
    nowUs = marchUs + hourUs
    await ship(store, [storedReading({ receivedAtUs: nowUs })])
    await opened.reopen()

    expect(opened.store.counts('boiler')).toMatchObject({
      latencyUs: 4_000,
      lastStoredAtUs: marchUs + hourUs,
    })
  })

  test('tell how many readings were stored a second, lately', async () => {
    await using opened = await open()
    const { store } = opened
    expect(store.storedPerSecond('boiler')).toBe(0)
    const some = Array.from({ length: 300 }, (_, index) =>
      storedReading({ timestampUs: marchUs + index }),
    )
    await ship(store, some)

    // Over about a minute: the less the longer it is ago.
    expect(store.storedPerSecond('boiler')).toBeGreaterThan(0)
    expect(store.storedPerSecond('boiler')).toBeLessThanOrEqual(5)
  })

  test('keep their sums through many thousand small shipments', async () => {
    await using opened = await open()
    const streams = Array.from({ length: 3_000 }, (_, index) => `stream-${index}`)
    const received = new Map(streams.map((id) => [id, 2]))
    const shipments = 40

    for (let round = 0; round < shipments; round++) {
      const streamId = streams[round] as string
      const readings = [storedReading({ streamId })]
      const from = opened.store.position()
      await opened.store.write({ readings, received, from, nextOffset: from + 6_000 })
      if (round === shipments / 2) await opened.reopen()
    }

    for (const reopened of [false, true]) {
      if (reopened) await opened.reopen()
      const { store } = opened
      expect(store.totals()).toMatchObject({ stored: shipments, duplicates: 0 })
      expect(store.counts('stream-7')).toMatchObject({ received: 2 * shipments, stored: 1 })
      expect(store.counts('stream-2999')).toMatchObject({ received: 2 * shipments, stored: 0 })
      expect(store.position()).toBe(6_000 * shipments)
    }
  })
}

/** Readings of two streams that fall into three months, and so into several tables. */
function severalMonths() {
  return [
    storedReading({ timestampUs: marchUs - 1 }),
    storedReading({ timestampUs: marchUs }),
    storedReading({ streamId: 'pump', timestampUs: marchUs }),
    storedReading({ timestampUs: marchUs + 35 * 24 * hourUs }),
  ]
}

/** All that a store tells, but for what moves with the clock. */
async function factsOf(store: TimeSeriesStore) {
  const streams = ['boiler', 'pump', 'fan']
  return {
    position: store.position(),
    totals: store.totals(),
    counts: streams.map((id) => store.counts(id)),
    points: await Promise.all(streams.map((streamId) => allPoints(store, { streamId }))),
  }
}
