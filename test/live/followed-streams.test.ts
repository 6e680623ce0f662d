import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId, type StreamId, type UserId, uuidBytes } from '../../src/core/ids.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { placesOf } from '../../src/reading/live/followed-streams.ts'

/** Ids that begin alike, so that only the whole of them tells two streams apart. */
const ids = Array.from(
  { length: 6 },
  (_, number) => `${number < 4 ? '9f3c21e0' : '1f3c21e0'}${newId<StreamId>().slice(8)}` as StreamId,
)
const keys = ids.map((id) => uuidBytes(id).toString('latin1'))

function batchOf(streams: readonly number[]): Uint8Array {
  const writer = new EntryWriter()
  for (const at of streams) {
    const schema = { fields: {}, validation: 'lenient', timestampField: 't' } as const
    const stream = {
      streamId: ids[at] ?? newId<StreamId>(),
      ownerId: newId<UserId>(),
      version: 1,
      schema: { ...schema, timestampFormat: 'rfc3339' as const },
    }
    const reading = { values: '{}', extra: '', flagged: [], digest: '0'.repeat(16) }
    writer.accepted(stream, { accepted: true, timestampUs: at, ...reading }, at)
  }
  return writer.take().bytes
}

test('entries of the streams that are followed are found, each at its place, and no others', () => {
  const stream = fc.integer({ min: 0, max: ids.length - 1 })
  fc.assert(
    fc.property(
      fc.array(stream, { maxLength: 40 }),
      fc.uniqueArray(stream),
      (streams, followed) => {
        const bytes = batchOf(streams)
        const sought = new Set(followed.map((at) => keys[at] ?? ''))
        const places = placesOf(bytes, sought)

        for (const at of ids.keys()) {
          const found = places.get(keys[at] ?? '') ?? []
          const wanted = followed.includes(at)
            ? streams.flatMap((one, place) => (one === at ? [place] : []))
            : []
          expect(found.filter((_, index) => index % 2 === 0)).toEqual(wanted)
          for (const start of found.filter((_, index) => index % 2 === 1)) {
            const entry = new EntryReader(bytes.subarray(start))
            entry.next()
            expect(entry.streamKey).toBe(keys[at])
          }
        }
      },
    ),
  )
})
