import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { kindCleared } from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { Shipper } from '../../src/ingest/pipeline/shipper.ts'
import type { JournalBatch } from '../../src/storage/journal/journal.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { allPoints } from '../support/stored-readings.ts'

const shape = shapeOf({ temperature: { type: 'number' } })

function streamOf(streamId: StreamId) {
  const schema = {
    fields: {},
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  } as const
  return { streamId, ownerId: newId<UserId>(), version: 1, schema }
}

/** One entry: a reading at a time, or the removal of a range of them. */
type Step =
  | { readonly kind: 'reading'; readonly timestampUs: number }
  | { readonly kind: 'removal'; readonly startUs: number; readonly endUs: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('reading' as const), timestampUs: fc.nat(9) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('removal' as const),
      startUs: fc.nat(10),
      endUs: fc.nat(10),
    }),
  },
)

function batchOf(streamId: StreamId, firstOffset: number, steps: readonly Step[]): JournalBatch {
  const writer = new EntryWriter()
  const stream = streamOf(streamId)
  for (const one of steps) {
    if (one.kind === 'removal') writer.cleared(stream, one, 1)
    else {
      const { timestampUs } = one
      const rest = { values: '{}', extra: '', flagged: [], digest: '00000000000000ff' }
      writer.accepted(stream, { accepted: true, timestampUs, ...rest }, 1)
    }
  }
  return { firstOffset, count: steps.length, bytes: writer.take().bytes }
}

/** What is there in the end, and the counts, one entry after the other. */
function modelOf(steps: readonly Step[]) {
  const there = new Set<number>()
  const counts = { received: 0, stored: 0, duplicates: 0, deleted: 0 }
  for (const one of steps) {
    if (one.kind === 'reading') {
      counts.received++
      if (there.has(one.timestampUs)) counts.duplicates++
      else counts.stored++
      there.add(one.timestampUs)
      continue
    }
    for (const time of there) {
      if (time >= one.startUs && time < one.endUs && there.delete(time)) counts.deleted++
    }
  }
  return { times: [...there].sort((left, right) => left - right), counts }
}

describe('removals in the journal', () => {
  test('take what came before them and nothing else, however the journal is cut', async () => {
    const journal = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 1 })
    // One store for all cases, each with a stream of its own: to open one takes longer than a case.
    await using opened = await openDuckDbStore()
    const { store } = opened
    await fc.assert(
      fc.asyncProperty(journal, fc.nat(3), async (parts, together) => {
        const streamId = newId<StreamId>()
        const shipper = new Shipper({ store, loadVersion: async () => ({ shape }) })
        let head = store.position()
        const batches = parts.map((steps) => {
          const batch = batchOf(streamId, head, steps)
          head += steps.length
          return batch
        })

        while (shipper.position() < head) {
          const left = batches.filter(
            ({ firstOffset, count }) => firstOffset + count > shipper.position(),
          )
          await shipper.handle(left.slice(0, together + 1))
        }

        const { times, counts } = modelOf(parts.flat())
        const points = await allPoints(store, { streamId })
        expect(points.map(({ timestampUs }) => timestampUs)).toEqual(times)
        expect(store.counts(streamId)).toMatchObject(counts)
      }),
      { numRuns: 25 },
    )
  })

  test('are shipped with what stands around them, without a rest between', async () => {
    await using opened = await openDuckDbStore()
    const shipper = new Shipper({
      store: opened.store,
      loadVersion: async () => ({ shape }),
    })
    const reading = { kind: 'reading', timestampUs: 1 } as const
    const removal = { kind: 'removal', startUs: 0, endUs: 2 } as const

    await shipper.handle([batchOf(newId<StreamId>(), 0, [reading, removal, reading, removal])])

    expect(shipper.position()).toBe(4)
  })

  test('are no readings, neither received nor accepted', () => {
    const writer = new EntryWriter()
    writer.cleared(streamOf(newId<StreamId>()), { startUs: 5, endUs: 2 ** 57 }, 7)
    const entries = writer.take()
    const reader = new EntryReader(entries.bytes)

    expect(entries).toMatchObject({ count: 1, quarantined: 0, reviewed: 1 })
    expect(reader.next()).toBe(true)
    expect(reader).toMatchObject({ kind: kindCleared, received: false, accepted: false })
    expect(reader).toMatchObject({ clearedRange: { startUs: 5, endUs: 2 ** 57 }, receivedAtUs: 7 })
  })
})
