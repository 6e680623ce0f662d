import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ReadingsLost } from '../../../src/storage/time-series/questdb/durability.ts'
import type { ShippedReading } from '../../../src/storage/time-series/shipment.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import {
  hourUs,
  marchUs,
  type ReadingNotes,
  shipmentOf,
  storedReading,
} from '../../support/stored-readings.ts'
import { maxOfHours } from '../../support/windowed-store.ts'
import { Written } from '../../support/written-to-questdb.ts'

const runs = 3

describe.skipIf(isQuestDbMissing)('a QuestDB whose machine has lost power', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  test('gets again what it has lost, with the same counts, whatever it was', async () => {
    await fc.assert(
      fc.asyncProperty(steps(2), steps(6), steps(3), async (before, lost, after) => {
        await using written = new Written(questDb)
        const model = new Model()
        for (const one of before) await take(one, written, model)
        await written.writer.durability.prove()
        await written.settled()
        await questDb.keepDisk()
        for (const one of lost) await take(one, written, model)

        await questDb.losePower()
        await written.repeat()

        await model.expectIn(written)
        for (const one of after) await take(one, written, model)
        await model.expectIn(written)
        expect(await written.repeat()).toBe(0)
      }),
      { numRuns: runs },
    )
  })

  test('is not written to when it has lost what the journal has no more, and that is told', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.settled()
    await questDb.keepDisk()
    await written.ship([storedReading()])
    await written.writer.durability.prove()

    await questDb.losePower()

    await expect(written.repeat()).rejects.toThrow('Put back the newest copy')
    await expect(written.ship([storedReading()])).rejects.toThrow(ReadingsLost)
    const { durability } = written.writer
    expect(durability.problem()).toContain(`${written.table} ends at 1 of 2`)
    expect(written.writer.counts('boiler').stored).toBe(2)
  })

  test('loses again what was removed, or was deleted while it was writing to its disk', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading(), storedReading({ streamId: 'pump' })])
    await written.settled()
    await questDb.keepDisk()
    // What comes during a proof is not proven by it.
    const proving = written.writer.durability.prove()
    await written.writer.removeStreams(['pump'])
    await proving
    await written.remove({ streamId: 'boiler', startUs: marchUs, endUs: marchUs + 1 })

    await questDb.losePower()
    await written.repeat()

    expect(await written.identities('boiler')).toEqual([])
    expect(await written.identities('pump')).toEqual([])
    expect(written.writer.counts('boiler')).toMatchObject({ stored: 1, deleted: 1 })
  })

  test('has windows computed again, as those of before may be of what was left', async () => {
    await using written = new Written(questDb)
    const { windows } = written.writer
    const settle = async () => {
      const pieces = windows.due(marchUs + 1_000 * hourUs, 100)
      await windows.write(pieces.map((piece) => ({ piece, coveredToUs: piece.toUs, windows: [] })))
      expect(windows.totals().marks).toBe(0)
    }
    const shipment = shipmentOf([storedReading()], 0)
    const told = shipment.readings.map((reading) => {
      return [reading, { version: 1, definition: maxOfHours(1) }] as const
    })
    await written.writer.write({ ...shipment, windows: new Map(told) })
    await written.writer.durability.prove()
    await written.settled()
    await questDb.keepDisk()
    await written.ship([storedReading()])
    await settle()

    await questDb.losePower()
    await written.repeat()

    expect(windows.totals().marks).toBe(1)
  })

  test('that was new gets all that it has ever had', async () => {
    await using written = new Written(questDb)
    await questDb.keepDisk()
    await written.ship([storedReading(), storedReading()])

    await questDb.losePower()

    expect(await written.repeat()).toBe(2)
    expect(await written.identities()).toHaveLength(2)
  })

  test('gets nothing of a stream that has been deleted since', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading(), storedReading({ streamId: 'pump' })])
    await written.settled()
    await questDb.keepDisk()
    await written.ship([storedReading()])
    await written.writer.removeStreams(['boiler'])

    await questDb.losePower()
    await written.repeat()

    expect(await written.identities('boiler')).toEqual([])
    expect(await written.identities('pump')).toHaveLength(1)
  })
})

async function take(one: Step, written: Written, model: Model): Promise<void> {
  const { streamId } = one
  switch (one.kind) {
    case 'ship': {
      const readings = one.readings.map((notes) => storedReading({ ...notes, streamId }))
      await written.ship(readings)
      for (const reading of readings) model.take(reading)
      break
    }
    case 'remove':
      await written.remove(one)
      model.remove(one, 'deleted')
      break
    case 'expire': {
      const expiry = { streamId, beforeUs: model.laterThanEver(streamId, one.hours) }
      await written.writer.expire([expiry], new AbortController().signal)
      model.remove({ streamId, startUs: 0, endUs: expiry.beforeUs }, 'expired')
      break
    }
    case 'arrange':
      await written.writer.arrange(new Map([[streamId, one.hours * hourUs]]))
      break
    default:
      one satisfies never
  }
}

const streamId = fc.constantFrom('boiler', 'pump')

/** A time among few, over two months, so that much comes twice and much is removed. */
const timeUs = fc.nat(12).map((hour) => marchUs + (hour - 6) * hourUs)

type Step =
  | {
      readonly kind: 'ship'
      readonly streamId: string
      readonly readings: readonly ReadingNotes[]
    }
  | {
      readonly kind: 'remove'
      readonly streamId: string
      readonly startUs: number
      readonly endUs: number
    }
  | { readonly kind: 'expire' | 'arrange'; readonly streamId: string; readonly hours: number }

const ship = fc.record({
  kind: fc.constant('ship' as const),
  streamId,
  readings: fc.array(fc.record({ timestampUs: timeUs, digest: fc.bigInt(0n, 2n) }), {
    minLength: 1,
    maxLength: 12,
  }),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: ship },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      streamId,
      startUs: timeUs,
      endUs: timeUs,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('expire' as const), streamId, hours: fc.nat(3) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('arrange' as const),
      streamId,
      hours: fc.constantFrom(4, 40, 400),
    }),
  },
)

function steps(maxLength: number): fc.Arbitrary<Step[]> {
  return fc.array(step, { minLength: 1, maxLength })
}

interface Counts {
  stored: number
  duplicates: number
  deleted: number
  expired: number
}

/** What has to be there, and to be counted. */
class Model {
  readonly #streams = new Map<
    string,
    { there: Map<string, number>; counts: Counts; keptUs: number }
  >()

  take(reading: ShippedReading): void {
    const { timestampUs, digest } = reading
    const { there, counts } = this.#stream(reading.streamId)
    const identity = `${timestampUs} ${digest}`
    if (there.has(identity)) counts.duplicates++
    else counts.stored++
    there.set(identity, timestampUs)
  }

  remove(
    range: { readonly streamId: string; readonly startUs: number; readonly endUs: number },
    counted: 'deleted' | 'expired',
  ): void {
    const { there, counts } = this.#stream(range.streamId)
    for (const [identity, timestampUs] of there) {
      if (timestampUs < range.startUs || timestampUs >= range.endUs) continue
      there.delete(identity)
      counts[counted]++
    }
  }

  /** Readings are kept from later and later on. */
  laterThanEver(id: string, hours: number): number {
    const stream = this.#stream(id)
    stream.keptUs += (hours + 1) * hourUs
    return stream.keptUs
  }

  async expectIn(written: Written): Promise<void> {
    for (const [id, { there, counts }] of this.#streams) {
      expect(written.writer.counts(id)).toMatchObject(counts)
      expect(await written.identities(id)).toEqual([...there.keys()].sort())
    }
  }

  #stream(id: string) {
    let stream = this.#streams.get(id)
    if (!stream) {
      const counts = { stored: 0, duplicates: 0, deleted: 0, expired: 0 }
      stream = { there: new Map(), counts, keptUs: marchUs - 7 * hourUs }
      this.#streams.set(id, stream)
    }
    return stream
  }
}
