import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ShippedReading } from '../../../src/storage/time-series/shipment.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import {
  hourUs,
  marchUs,
  type ReadingNotes,
  shipmentOf,
  storedReading,
} from '../../support/stored-readings.ts'
import { Written } from '../../support/written-to-questdb.ts'

describe.skipIf(isQuestDbMissing)('the writer', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  test('stores each reading once, whatever comes twice, and counts exactly through crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        await using written = new Written(questDb)
        // It keeps its month: what has expired is given back only when it was counted.
        await written.ship([storedReading({ streamId: 'pump', timestampUs: oldestUs })])
        const model = new Model()
        for (const one of steps) {
          if (one.kind === 'ship') await ship(written, one, model)
          else if (one.kind === 'remove') await remove(written, one, model)
          else await expire(written, one, model)
          expect(written.writer.counts('boiler')).toMatchObject(model.counts)
        }
        expect(await written.identities()).toEqual(model.identities)
      }),
      { numRuns: 25 },
    )
  })
})

async function ship(
  written: Written,
  { readings, crash, again }: Ship,
  model: Model,
): Promise<void> {
  const all = readings.map((notes) => storedReading(notes))
  const from = written.writer.position()
  const write = async (count: number) =>
    await written.writer.write(shipmentOf(all.slice(0, count), from))
  if (crash !== 'none') await written.losing(() => write(all.length), crash)
  if (again < all.length) {
    await write(again)
    await written.writer.write(shipmentOf(all.slice(again), from + again))
  } else await write(all.length)
  for (const reading of all) model.take(reading)
}

async function remove(
  written: Written,
  { startUs, endUs, crash }: Remove,
  model: Model,
): Promise<void> {
  const from = written.writer.position()
  const removal = { streamId: 'boiler', startUs, endUs, from, nextOffset: from + 1 }
  if (crash !== 'none') await written.losing(() => written.writer.remove(removal), crash)
  await written.writer.remove(removal)
  model.remove(startUs, endUs)
}

/** One that has died is not begun anew at once: others come first. */
async function expire(written: Written, { hours, crash }: Expire, model: Model): Promise<void> {
  const beforeUs = model.laterThanEver(hours)
  const expiries = [{ streamId: 'boiler', beforeUs }]
  const work = () => written.writer.expire(expiries, new AbortController().signal)
  if (crash === 'none') {
    await work()
    model.expire(beforeUs)
  } else {
    await written.losing(work, crash)
    model.hide(beforeUs)
  }
}

/** Whether the process dies before it has written its position, and how far QuestDB is by then. */
type Crash = 'none' | 'sent' | 'applied'
const crash = fc.constantFrom<Crash>('none', 'none', 'sent', 'applied')

const oldestUs = marchUs - 6 * hourUs

/** A time among few, over two months, so that much comes twice and much is removed. */
const timeUs = fc.nat(12).map((hour) => oldestUs + hour * hourUs)

interface Ship {
  readonly readings: readonly ReadingNotes[]
  readonly crash: Crash
  /** After a crash the same entries come in other portions. */
  readonly again: number
}

interface Remove {
  readonly startUs: number
  readonly endUs: number
  readonly crash: Crash
}

interface Expire {
  readonly hours: number
  readonly crash: Crash
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ship' as const),
      readings: fc.array(fc.record({ timestampUs: timeUs, digest: fc.bigInt(0n, 2n) }), {
        minLength: 1,
        maxLength: 12,
      }),
      crash,
      again: fc.integer({ min: 1, max: 14 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      startUs: timeUs,
      endUs: timeUs,
      crash,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('expire' as const),
      hours: fc.integer({ min: 1, max: 6 }),
      crash,
    }),
  },
)

/** What has to be there, and to be counted. */
class Model {
  readonly #there = new Map<string, number>()
  /** Too old, marked, and not counted yet: they are counted as there, and shown to nobody. */
  readonly #hidden = new Set<string>()
  #keptUs = oldestUs
  counts = { received: 0, stored: 0, duplicates: 0, deleted: 0, expired: 0 }

  get identities(): string[] {
    return [...this.#there.keys()].filter((one) => !this.#hidden.has(one)).sort()
  }

  take({ timestampUs, digest }: ShippedReading): void {
    const identity = `${timestampUs} ${digest}`
    this.counts.received++
    if (this.#there.has(identity)) this.counts.duplicates++
    else this.counts.stored++
    this.#there.set(identity, timestampUs)
  }

  remove(startUs: number, endUs: number): void {
    for (const [identity, timestampUs] of this.#there) {
      if (timestampUs < startUs || timestampUs >= endUs || this.#hidden.has(identity)) continue
      this.#there.delete(identity)
      this.counts.deleted++
    }
  }

  /** Readings are kept from later and later on. */
  laterThanEver(hours: number): number {
    this.#keptUs += hours * hourUs
    return this.#keptUs
  }

  hide(beforeUs: number): void {
    for (const [identity, timestampUs] of this.#there) {
      if (timestampUs < beforeUs) this.#hidden.add(identity)
    }
  }

  expire(beforeUs: number): void {
    for (const [identity, timestampUs] of this.#there) {
      if (timestampUs >= beforeUs) continue
      this.#there.delete(identity)
      this.#hidden.delete(identity)
      this.counts.expired++
    }
  }
}
