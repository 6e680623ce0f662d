import * as fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { payloadText } from '../../src/ingest/quarantine/quarantine-store.ts'
import type { Offset } from '../../src/storage/journal/journal.ts'
import { DecidedState, handle } from '../support/decided-state.ts'
import { type JournalledReading, journalled, written } from '../support/journalled-readings.ts'

const usPerDay = 86_400_000_000
const mib = 1024 * 1024

const boiler = newId<StreamId>()
const pump = newId<StreamId>()

function entry(notes: Partial<JournalledReading> = {}): JournalledReading {
  return journalled({ streamId: boiler, ...notes })
}

function refused(notes: Partial<JournalledReading> = {}): JournalledReading {
  return entry({ accepted: false, ...notes })
}

describe('counters', () => {
  const noted = fc.record({
    accepted: fc.boolean(),
    streamId: fc.constantFrom(boiler, pump),
    receivedAtUs: fc.integer({ min: 0, max: 5 * usPerDay }),
    payload: fc.uint8Array({ maxLength: 100 }),
  })
  const batches = fc.array(fc.array(noted, { minLength: 1, maxLength: 20 }), { maxLength: 6 })

  test('add up over any batches', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (entries) => {
        await using subject = await DecidedState.open()
        for (const batch of entries) await subject.decide(batch)

        for (const streamId of [boiler, pump]) {
          const own = entries.flat().filter((one) => one.streamId === streamId)
          const bad = own.filter(({ accepted }) => !accepted)
          const days = own.map(({ receivedAtUs }) => Math.floor(receivedAtUs / usPerDay))
          const day = Math.max(0, ...days)
          const expected = {
            received: own.length,
            accepted: own.length - bad.length,
            quarantined: bad.length,
            discarded: 0,
            is_discarding: 0,
            quarantine_bytes: bad.reduce((sum, { payload }) => sum + payload.byteLength, 0),
            last_received_at: Math.max(...own.map(({ receivedAtUs }) => receivedAtUs)),
            day,
            received_on_day: days.filter((one) => one === day).length,
          }
          const counters = await subject.counters(streamId)
          if (own.length === 0) expect(counters).toBeUndefined()
          else expect(counters).toMatchObject(expected)
          const kept = await subject.kept(streamId)
          expect(kept.map(({ payload }) => Buffer.from(payload))).toEqual(
            bad.map(({ payload }) => Buffer.from(payload)),
          )
        }
      }),
      { numRuns: 25 },
    )
  })

  test('of a day begin anew with the first receipt of the next day', async () => {
    await using subject = await DecidedState.open()
    await subject.decide([
      entry({ receivedAtUs: 10 * usPerDay - 2 }),
      entry({ receivedAtUs: 10 * usPerDay - 1 }),
    ])
    expect(await subject.counters(boiler)).toMatchObject({ day: 9, received_on_day: 2 })

    await subject.decide([entry({ receivedAtUs: 10 * usPerDay })])
    expect(await subject.counters(boiler)).toMatchObject({
      day: 10,
      received_on_day: 1,
      received: 3,
    })

    await subject.decide([entry({ receivedAtUs: 10 * usPerDay - 1 })])
    expect(await subject.counters(boiler)).toMatchObject({
      day: 10,
      received_on_day: 1,
      received: 4,
    })
  })

  test('cover thousands of streams in one decision', async () => {
    await using subject = await DecidedState.open()
    const streams = Array.from({ length: 3_000 }, () => newId<StreamId>())
    await subject.decide(streams.map((streamId) => entry({ streamId })))
    await subject.decide(streams.map((streamId) => entry({ streamId })))

    for (const streamId of [streams[0], streams[1_500], streams[2_999]]) {
      expect(await subject.counters(streamId ?? boiler)).toMatchObject({ received: 2, accepted: 2 })
    }
  })
})

describe('the position', () => {
  test('is 0 at first and moves with what was decided', async () => {
    await using subject = await DecidedState.open()
    expect(await subject.store.position()).toBe(0)

    await subject.decide([entry(), refused()])

    expect(await subject.store.position()).toBe(2)
  })

  test('lets a second decider fail, who then changes nothing', async () => {
    await using subject = await DecidedState.open()
    const second = await Decider.open(subject.store)
    await subject.decide([entry(), refused()])
    const before = await factsOf(subject)

    await expect(handle(second, [entry(), refused(), refused({ streamId: pump })])).rejects.toThrow(
      'another decider has moved on from 0',
    )

    expect(await factsOf(subject)).toEqual(before)
    expect(second.position()).toBe(0)
    await subject.decide([entry()])
    expect(await subject.counters(boiler)).toMatchObject({ received: 3 })
  })

  test('moves with everything else of a decision or not at all', async () => {
    await using subject = await DecidedState.open()
    await subject.decide([entry(), refused()])
    const before = await factsOf(subject)
    const tooLarge = refused({ payload: Buffer.alloc(64 * mib + 1) })
    const decision = [entry(), refused(), tooLarge]
    await sql`CREATE TRIGGER broken BEFORE INSERT ON stream_counters
      BEGIN SELECT raise(ABORT, 'broken'); END`.execute(subject.state)

    await expect(subject.decide(decision)).rejects.toThrow('broken')
    expect(await factsOf(subject)).toEqual(before)
    expect(subject.discarding).toEqual([])

    await sql`DROP TRIGGER broken`.execute(subject.state)
    await subject.decide(decision)
    expect(await subject.counters(boiler)).toMatchObject({
      received: 5,
      quarantined: 2,
      discarded: 1,
    })
    expect(await subject.store.position()).toBe(5)
    expect(subject.discarding).toEqual([boiler])
  })

  test('lets nobody leave out a part of the journal', async () => {
    await using subject = await DecidedState.open()
    const decider = await Decider.open(subject.store)

    const late = { firstOffset: 5, ...written([entry()]) }
    await expect(decider.handle([late])).rejects.toThrow('the journal has no entry 0')
  })
})

describe('the quarantine of a stream', () => {
  test('keeps a refused reading with all that is known of it', async () => {
    await using subject = await DecidedState.open()
    await subject.decide([entry(), refused({ payload: Buffer.from([0xff, 0x00]) })])

    const [kept] = await subject.kept(boiler)
    expect(kept && { ...kept, ...payloadText(kept) }).toEqual({
      id: 1,
      reason: 'schema_mismatch',
      message: 'is not valid',
      details: [{ path: 'temperature', message: 'must be a number' }],
      payload: '/wA=',
      encoding: 'base64',
      format: 'json',
      isElement: false,
      timestampUs: undefined,
      receivedAtUs: usPerDay,
      source: 'http 127.0.0.1',
    })
  })

  test('holds 10,000 entries; what comes after is only counted as discarded', async () => {
    await using subject = await DecidedState.open()
    const many = (count: number) => Array.from({ length: count }, () => refused())
    await subject.decide(many(9_000))
    await subject.decide(many(1_000))
    expect(await subject.counters(boiler)).toMatchObject({ quarantined: 10_000, discarded: 0 })
    expect(subject.discarding).toEqual([])

    await subject.decide([...many(3), entry(), refused({ streamId: pump })])

    expect(await subject.counters(boiler)).toMatchObject({
      received: 10_004,
      accepted: 1,
      quarantined: 10_000,
      discarded: 3,
    })
    expect(await subject.kept(boiler)).toHaveLength(10_000)
    expect(await subject.kept(pump)).toHaveLength(1)
  })

  test('holds 64 MiB to the byte; what comes after is only counted as discarded', async () => {
    await using subject = await DecidedState.open()
    const large = Array.from({ length: 63 }, () => refused({ payload: Buffer.alloc(mib, 'x') }))
    await subject.decide(large)
    const rest = refused({ payload: Buffer.alloc(mib, 'y') })
    const tooMuch = refused({ payload: Buffer.alloc(mib + 1, 'z') })
    const byte = refused({ payload: Buffer.from('1') })

    await subject.decide([tooMuch, rest, byte])

    expect(await subject.counters(boiler)).toMatchObject({
      received: 66,
      quarantined: 64,
      discarded: 2,
      quarantine_bytes: 64 * mib,
    })
  })

  test('gives notice once when it begins to discard', async () => {
    await using subject = await DecidedState.open()
    const tooLarge = refused({ payload: Buffer.alloc(64 * mib + 1) })

    await subject.decide([tooLarge, tooLarge])
    await subject.decide([tooLarge])
    await subject.decide([refused(), tooLarge])

    expect(subject.discarding).toEqual([boiler])
    expect(await subject.counters(boiler)).toMatchObject({ quarantined: 1, discarded: 4 })
  })
})

/** All that decisions leave behind. */
async function factsOf({ state, store }: DecidedState) {
  const position: Offset = await store.position()
  const counters = await state.selectFrom('stream_counters').selectAll().execute()
  const quarantine = await state.selectFrom('quarantine').selectAll().execute()
  return { position, counters, quarantine }
}
