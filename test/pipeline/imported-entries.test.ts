import { expect, test } from 'vitest'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { kindImported } from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'

const stream = {
  streamId: newId<StreamId>(),
  ownerId: newId<UserId>(),
  version: 2,
  schema: {
    fields: {},
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  },
} as const

test('an imported reading is received and stored like any other, and is known to be history', () => {
  const reading = {
    accepted: true,
    timestampUs: 3,
    values: '{"temperature":1}',
    extra: '{"other":2}',
    flagged: ['temperature'],
    digest: 'ff00000000000000',
  } as const
  const writer = new EntryWriter()
  writer.imported(stream, reading, 5)
  const { bytes, count, quarantined, filtered, reviewed } = writer.take()
  const entry = new EntryReader(bytes)
  entry.next()

  expect({ count, quarantined, filtered, reviewed }).toEqual({
    count: 1,
    quarantined: 0,
    filtered: 0,
    reviewed: 0,
  })
  expect([entry.kind, entry.accepted, entry.received, entry.isReview]).toEqual([
    kindImported,
    true,
    true,
    false,
  ])
  expect(entry.entry()).toMatchObject({
    streamVersion: 2,
    receivedAtUs: 5,
    timestampUs: 3,
    values: '{"temperature":1}',
    extra: '{"other":2}',
    flagged: ['temperature'],
    // Little-endian, as all numbers of an entry.
    digest: 255n,
  })
})
