import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { refusalRemedy } from '../../src/core/refusal-catalogue.ts'
import { formatUs } from '../../src/core/time.ts'
import { everything } from '../../src/ingest/quarantine/quarantine-store.ts'
import { LocalPipeline, type LocalVersion } from '../support/local-pipeline.ts'

const numbers: LocalVersion = { fields: { v: { type: 'number' } } }
const strings: LocalVersion = { fields: { v: { type: 'string' } } }
const dayUs = 86_400_000_000

/** A batch of readings that fit `strings` only, each with a time of its own. */
function hot(count: number, from = 0): Buffer {
  const readings = Array.from({ length: count }, (_, index) => ({
    timestamp: formatUs(1_000_000 * (from + index)),
    v: 'hot',
  }))
  return Buffer.from(JSON.stringify(readings))
}

/** A reading that fits `numbers` at its time. */
function ahead(atUs: number): Buffer {
  return Buffer.from(`{"timestamp":"${formatUs(atUs)}","v":1}`)
}

function pair(name: string, value: string): object {
  return { name, value }
}

async function opened(version = numbers): Promise<LocalPipeline> {
  return await LocalPipeline.open(version)
}

describe('a redrive', () => {
  test('takes a full quarantine slice by slice, and lets others have their turn', async () => {
    await using real = await opened()
    await real.push(hot(10_000))
    real.change(strings)
    let turns = 0
    const end = new AbortController()
    const others = (async () => {
      for (; !end.signal.aborted; turns++) await turn()
    })()

    const result = await real.parts.reviews.redrive(real.streamId, everything)
    end.abort()
    await others
    await real.ship()

    expect(result).toEqual({ redriven: 10_000, accepted: 10_000, remaining: 0, stillRefused: [] })
    expect(turns).toBeGreaterThan(50)
    expect(await real.counters()).toMatchObject({ received: 10_000, stored: 10_000, pending: 0 })
    expect(await real.held()).toEqual([])
  })

  test('leaves the reading its time of receipt, and a reading without a time that time', async () => {
    await using real = await opened()
    const receivedAtUs = systemClock.nowUs() - dayUs
    await real.push(Buffer.from('{"v":"hot"}'), receivedAtUs)
    real.change(strings)

    await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    const [stored] = await real.stored()
    expect(stored).toMatchObject({ timestampUs: receivedAtUs, values: { v: 'hot' } })
  })

  test('keeps no field that only named the stream, in whichever case', async () => {
    await using real = await opened()
    const address = real.streamId.toUpperCase()
    await real.push(Buffer.from(`[{"streamId":"${address}","v":"hot"}]`))
    real.change(strings)

    await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    const [stored] = await real.stored()
    expect(stored).toMatchObject({ values: { v: 'hot' } })
    expect(stored).not.toHaveProperty('extra')
  })

  test.each([
    ['rows', { as: 'rows', columns: ['v'] }, [['a'], ['b']]],
    ['entries of a name and a value', { as: 'pivot' }, [pair('v', 'a'), pair('v', 'b')]],
    ['texts', { as: 'list', value: 'v' }, ['a', 'b']],
    ['objects', { as: 'list' }, [{ v: 'a' }, { v: 'b' }]],
  ] as const)(
    'finds %s in elements of a list that is read as a whole now',
    async (_, form, list) => {
      const fields = { v: { type: 'string', required: true, enum: ['a', 'b'] } } as const
      await using real = await opened({
        fields: { ...fields, w: { type: 'number', required: true } },
      })
      await real.push(Buffer.from(JSON.stringify(list)))
      real.change({ fields, items: [{ path: '$', ...form }] })

      await real.parts.reviews.redrive(real.streamId, everything)
      await real.ship()

      expect(await real.held()).toEqual([])
      expect(await real.stored()).toMatchObject([{ values: { v: 'a' } }, { values: { v: 'b' } }])
    },
  )

  test('reads what came with an address as the message that it was', async () => {
    const fields = { v: { type: 'number' } } as const
    await using real = await opened(strings)
    const message = { streamId: real.streamId, v: { value: 1 } }
    await real.push(Buffer.from(JSON.stringify([message])))
    real.change({ fields, items: [{ path: '$', as: 'pivot' }] })

    await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(await real.stored()).toMatchObject([{ values: { v: 1 } }])
  })

  test('adds nothing to the latency, and is no receipt of today', async () => {
    await using real = await opened()
    await real.push(Buffer.from('{"v":"hot"}'), systemClock.nowUs() - dayUs)
    const before = await real.receipts()
    real.change(strings)

    await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(real.parts.store.counts(real.streamId)).toMatchObject({ stored: 1, latencyUs: 0 })
    expect(await real.receipts()).toEqual(before)
  })

  test('asks of the time now whether a reading is ahead of it', async () => {
    await using real = await opened()
    const nowUs = systemClock.nowUs()
    await real.push(ahead(nowUs - dayUs / 2), nowUs - dayUs)
    await real.push(ahead(nowUs + dayUs), nowUs - dayUs)
    await real.decide()
    expect(await real.held()).toMatchObject([
      { reason: 'timestamp_in_future' },
      { reason: 'timestamp_in_future' },
    ])

    const result = await real.parts.reviews.redrive(real.streamId, everything)

    expect(result).toMatchObject({ redriven: 1, remaining: 1 })
    expect(await real.held()).toMatchObject([{ timestampUs: nowUs + dayUs }])
  })

  test('reads a message in the format that the stream names now', async () => {
    await using real = await opened()
    await real.push(Buffer.from('{"v":1}\n{"v":"hot"}\n{"v":2}'))
    await real.decide()
    expect(await real.held()).toMatchObject([{ reason: 'malformed' }])
    real.change({ ...numbers, format: 'ndjson' })

    const result = await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(result).toMatchObject({ redriven: 1, accepted: 2, remaining: 0 })
    const [held] = await real.held()
    expect(held).toMatchObject({ reason: 'schema_mismatch', isElement: true })
    expect(Buffer.from(held?.payload ?? []).toString()).toBe('{"v":"hot"}')
    expect(await real.counters()).toMatchObject({ received: 3, stored: 2, quarantined: 1 })
  })

  test('counts what was sent again meanwhile as a duplicate', async () => {
    await using real = await opened()
    await real.push(hot(1))
    real.change(strings)
    await real.push(hot(1))

    await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(await real.counters()).toMatchObject({ received: 2, stored: 1, duplicates: 1 })
  })

  test('takes out what fits now, and is filtered', async () => {
    await using real = await opened()
    await real.push(hot(3))
    real.change({ ...strings, transform: [{ filter: { expression: 'v != "hot"' } }] })

    const result = await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(result).toMatchObject({ redriven: 3, remaining: 0 })
    expect(await real.counters()).toMatchObject({ received: 3, stored: 0, filtered: 3, pending: 0 })
  })

  test('ends when the stream is paused', async () => {
    await using real = await opened()
    await real.push(hot(5_000))
    const review = real.parts.reviews.redrive(real.streamId, everything)
    const refused = expect(review).rejects.toMatchObject({ code: 'stream_paused' })
    await turn()
    real.change({ ...numbers, isPaused: true })
    await refused
  })

  test('judges only what was there when it began', async () => {
    await using real = await opened()
    await real.push(hot(900))
    real.change(strings)
    const review = real.parts.reviews.redrive(real.streamId, everything)
    await turn()
    real.change(numbers)
    await real.push(hot(5, 5_000))
    await real.decide()

    expect(await review).toMatchObject({ redriven: 900 })
    expect(await real.held()).toHaveLength(5)
  })
})

describe('what still does not fit', () => {
  test('stays, and says why it does not fit the newest version', async () => {
    await using real = await opened()
    await real.push(Buffer.from('{"v":"hot"}'))
    real.change({ fields: { v: { type: 'boolean' } } })

    const { stillRefused } = await real.parts.reviews.redrive(real.streamId, everything)

    const [held] = await real.held()
    expect(held?.details).toEqual([{ path: 'v', message: 'must be boolean' }])
    expect(stillRefused).toEqual([
      {
        id: held?.id,
        reason: 'schema_mismatch',
        message: 'v must be boolean',
        remedy: refusalRemedy('schema_mismatch'),
        details: held?.details,
      },
    ])
    expect(await real.counters()).toMatchObject({ received: 1, quarantined: 1, pending: 0 })
  })

  test('writes nothing when it stays for the same reason', async () => {
    await using real = await opened()
    await real.push(hot(3))
    await real.decide()
    const head = real.parts.reader.nextOffset()

    expect(await real.parts.reviews.redrive(real.streamId, everything)).toMatchObject({
      redriven: 0,
      remaining: 3,
    })

    expect(real.parts.reader.nextOffset()).toBe(head)
  })

  test('is explained for the first 100 entries', async () => {
    await using real = await opened()
    await real.push(hot(150))

    const result = await real.parts.reviews.redrive(real.streamId, everything)

    expect(result.remaining).toBe(150)
    expect(result.stillRefused).toHaveLength(100)
  })
})

describe('reviews', () => {
  test('of one stream do not overlap', async () => {
    await using real = await opened()
    await real.push(hot(1_000))
    const { reviews } = real.parts
    const first = reviews.redrive(real.streamId, everything)

    await expect(reviews.redrive(real.streamId, everything)).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(reviews.remove(real.streamId, everything)).rejects.toMatchObject({
      code: 'conflict',
    })

    await first
    expect(await reviews.remove(real.streamId, everything)).toBe(1_000)
  })

  test('wait for what is not decided yet, and give up with a retryable error', async () => {
    await using real = await opened()
    await real.push(hot(1))
    real.decisionsLeft = 0

    await expect(real.parts.reviews.redrive(real.streamId, everything)).rejects.toMatchObject({
      code: 'overloaded',
      retryable: true,
    })
  })

  test('end between two slices when the service stops, and go on when asked again', async () => {
    await using real = await opened()
    await real.push(hot(5_000))
    real.change(strings)
    const cut = real.parts.reviews.redrive(real.streamId, everything)
    const refused = expect(cut).rejects.toMatchObject({ code: 'overloaded' })
    await turn()
    await real.parts.reviews.stop()
    await refused
    await real.restart()

    const rest = await real.parts.reviews.redrive(real.streamId, everything)
    await real.ship()

    expect(rest.remaining).toBe(0)
    expect(await real.counters()).toMatchObject({ received: 5_000, stored: 5_000, duplicates: 0 })
  })

  test('that name an entry twice keep the sum: the second reading is received once more', async () => {
    await using real = await opened()
    await real.push(Buffer.from('{"timestamp":"2026-01-01T00:00:00Z","v":"hot"}'))
    real.change(strings)
    await real.decide()
    const [held] = await real.held()
    const stream = real.stream()
    const verdict = stream.judge(
      { timestamp: '2026-01-01T00:00:00Z', v: 'hot' },
      { receivedAtUs: 1_900_000_000_000_000, futureToleranceUs: 0 },
    )
    await real.write((writer) => {
      if (!verdict.accepted || verdict.isFiltered || !held) throw new Error('nothing to write')
      const origin = { offset: held.id, index: 0 }
      writer.accepted(stream, verdict, held.receivedAtUs, origin)
      writer.accepted(stream, verdict, held.receivedAtUs, origin)
    })
    await real.decide()
    await real.ship()

    expect(await real.counters()).toEqual({
      received: 2,
      stored: 1,
      duplicates: 1,
      unchanged: 0,
      filtered: 0,
      quarantined: 0,
      discarded: 0,
      pending: 0,
    })
  })
})
