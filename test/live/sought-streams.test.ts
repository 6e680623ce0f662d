import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { streamKeyOf } from '../../src/ingest/pipeline/entry.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { keysIn, soughtStreams } from '../../src/reading/live/sought-streams.ts'
import { acceptedReading, anyStream } from '../support/written-entries.ts'

/** Ids that begin alike, wholly or in what is looked at first, and others that do not. */
const beginnings = ['9f3c21e0', '9f3c21e0', '9f3c21e0', 'df3c21e0', '9f3c7777', '00000000']
const ids = beginnings.map((start) => `${start}${newId<StreamId>().slice(8)}` as StreamId)
const keys = ids.map(streamKeyOf)

function batchOf(streams: readonly number[]): Uint8Array {
  const writer = new EntryWriter()
  for (const at of streams) {
    const streamId = ids[at] ?? newId<StreamId>()
    writer.accepted({ ...anyStream, streamId }, acceptedReading(), 1)
  }
  return writer.take().bytes
}

test('the sought streams that a batch holds entries of are found, and no others', () => {
  const stream = fc.integer({ min: 0, max: ids.length - 1 })
  fc.assert(
    fc.property(fc.array(stream, { maxLength: 40 }), fc.uniqueArray(stream), (streams, sought) => {
      const found = keysIn(batchOf(streams), soughtStreams(sought.map((at) => keys[at] ?? '')))

      const wanted = sought.filter((at) => streams.includes(at)).map((at) => keys[at])
      expect(found).toEqual(new Set(wanted))
    }),
  )
})
