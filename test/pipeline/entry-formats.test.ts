import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RefusedReading } from '../../src/contracts/reading.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import {
  kindAccepted,
  kindQuarantined,
  kindRedriven,
  kindRejudged,
  kindRemoved,
  kindUnfit,
  streamIdOf,
} from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'

/** An entry of format 1, field by field as the first release has laid it out. */
interface FirstFormat {
  readonly kind: number
  readonly id: StreamId
  readonly version: number
  readonly receivedAtUs: number
  readonly timestampUs: number
  readonly digest: bigint
  readonly notes: string
  readonly body: string
}

/** Writes it byte by byte, with nothing of ours: what lies in journals does not change with the code. */
function layOut(entry: FirstFormat): Uint8Array {
  const notes = Buffer.from(entry.notes)
  const body = Buffer.from(entry.body)
  const bytes = Buffer.alloc(54 + notes.length + body.length)
  bytes.writeUInt32LE(bytes.length - 4, 0)
  bytes[4] = 1
  bytes[5] = entry.kind
  bytes.write(entry.id.replaceAll('-', ''), 6, 'hex')
  bytes.writeUInt32LE(entry.version, 22)
  bytes.writeDoubleLE(entry.receivedAtUs, 26)
  bytes.writeDoubleLE(entry.timestampUs, 34)
  bytes.writeBigUInt64LE(entry.digest, 42)
  bytes.writeUInt32LE(notes.length, 50)
  notes.copy(bytes, 54)
  body.copy(bytes, 54 + notes.length)
  return bytes
}

const times = fc.maxSafeNat()
const common = {
  id: fc.uuid({ version: 4 }).map((id) => id as StreamId),
  version: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  receivedAtUs: times,
}
const json = fc
  .dictionary(fc.string(), fc.string(), { maxKeys: 3 })
  .map((one) => JSON.stringify(one))
const acceptedNotes = fc
  .record(
    { extra: json, flagged: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) },
    { requiredKeys: [] },
  )
  .map((notes) => (Object.keys(notes).length === 0 ? '' : JSON.stringify(notes)))

const accepted: fc.Arbitrary<FirstFormat> = fc.record({
  ...common,
  kind: fc.constant(1),
  timestampUs: times,
  digest: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  notes: acceptedNotes,
  body: json,
})

const refusalNotes = fc
  .record({
    reason: fc.constantFrom('malformed', 'schema_mismatch'),
    message: fc.string(),
    details: fc.array(fc.record({ path: fc.string(), message: fc.string() }), { maxLength: 2 }),
    source: fc.string(),
  })
  .map((notes) => JSON.stringify(notes))

const quarantined: fc.Arbitrary<FirstFormat> = fc.record({
  ...common,
  kind: fc.constant(2),
  timestampUs: fc.oneof(times, fc.constant(Number.NaN)),
  digest: fc.constant(0n),
  notes: refusalNotes,
  body: fc.string({ unit: 'grapheme' }),
})

describe('entries of format 1', () => {
  test('are read as they were written by the first release', () => {
    fc.assert(
      fc.property(fc.oneof(accepted, quarantined), (old) => {
        const reader = new EntryReader(layOut(old))

        expect(reader.next()).toBe(true)
        const { kind, streamVersion, receivedAtUs, timestampUs, digest, values } = reader
        expect({ kind, streamVersion, receivedAtUs, timestampUs, digest, values }).toEqual({
          kind: old.kind,
          streamVersion: old.version,
          receivedAtUs: old.receivedAtUs,
          timestampUs: old.timestampUs,
          digest: old.digest,
          values: old.body,
        })
        expect(streamIdOf(reader.streamKey)).toBe(old.id)
        expect(reader.received).toBe(true)
        if (reader.accepted) {
          expect(reader.acceptedNotes).toEqual(old.notes === '' ? {} : JSON.parse(old.notes))
        } else expect(reader.quarantinedEntry().notes).toEqual(JSON.parse(old.notes))
        expect(reader.next()).toBe(false)
      }),
    )
  })

  test('are what is still written for a reading when it comes', () => {
    fc.assert(
      fc.property(accepted, (old) => {
        const { extra = '', flagged = [] } = (old.notes === '' ? {} : JSON.parse(old.notes)) as {
          extra?: string
          flagged?: string[]
        }
        const digest = Buffer.alloc(8)
        digest.writeBigUInt64LE(old.digest)
        const writer = new EntryWriter()
        writer.accepted(
          streamOf(old.id, old.version),
          {
            accepted: true,
            timestampUs: old.timestampUs,
            values: old.body,
            extra,
            flagged,
            digest: digest.toString('hex'),
          },
          old.receivedAtUs,
        )

        expect([...writer.take().bytes]).toEqual([...layOut(old)])
      }),
    )
  })
})

const refusal: RefusedReading = {
  accepted: false,
  reason: 'schema_mismatch',
  message: 'is too hot',
  details: [{ path: 'temperature', message: 'must be a number' }],
  timestampUs: undefined,
}
const reading = {
  accepted: true,
  timestampUs: 3,
  values: '{}',
  extra: '',
  flagged: [],
  digest: '00000000000000ff',
} as const
const payload = { atUs: 1, source: 'http', payload: Buffer.from('7'), isElement: true }

function streamOf(streamId: StreamId, version = 2) {
  const schema = {
    fields: {},
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  } as const
  return { streamId, ownerId: newId<UserId>(), version, schema }
}

/** All entries of one writer, with what each of them says. */
function readBack<Value>(
  write: (writer: EntryWriter) => void,
  read: (reader: EntryReader) => Value,
): Value[] {
  const writer = new EntryWriter()
  write(writer)
  const reader = new EntryReader(writer.take().bytes)
  const found: Value[] = []
  while (reader.next()) found.push(read(reader))
  return found
}

describe('entries of what people do with the quarantine', () => {
  const stream = streamOf(newId<StreamId>())

  const everyKind = (writer: EntryWriter) => {
    writer.accepted(stream, reading, 1)
    writer.quarantined(stream, refusal, payload)
    writer.accepted(stream, reading, 1, { offset: 7, index: 0 })
    writer.accepted(stream, reading, 1, { offset: 7, index: 1 })
    writer.quarantined(stream, refusal, payload, { offset: 8, index: 0 })
    writer.quarantined(stream, refusal, payload, { offset: 8, index: 2 })
    writer.rejudged(stream, refusal, { atUs: 1, source: 'http', offset: 9 })
    writer.removed(stream, [4, 5], 1)
  }

  test('each have a kind of their own', () => {
    expect(readBack(everyKind, ({ kind }) => kind)).toEqual([
      kindAccepted,
      kindQuarantined,
      kindRedriven,
      kindRedriven,
      kindUnfit,
      kindUnfit,
      kindRejudged,
      kindRemoved,
    ])
  })

  test('are received once: the first reading takes the place of what it was in', () => {
    const received = readBack(everyKind, (reader) => reader.received)

    expect(received).toEqual([true, true, false, true, false, true, false, false])
  })

  test('bring readings to be stored where they fit', () => {
    const stored = readBack(everyKind, ({ accepted: isStored }) => isStored)

    expect(stored).toEqual([true, false, true, true, false, false, false, false])
  })

  test('are counted by their writer apart from readings that come', () => {
    const writer = new EntryWriter()
    everyKind(writer)

    expect(writer.take()).toMatchObject({ count: 8, quarantined: 1, reviewed: 6 })
    expect(writer.take()).toMatchObject({ count: 0, quarantined: 0, reviewed: 0 })
  })

  test('say what stays for another reason, and why', () => {
    const [entry] = readBack(
      (writer) => writer.rejudged(stream, refusal, { atUs: 1, source: 'mqtt', offset: 9 }),
      (reader) => reader.quarantinedEntry(),
    )

    expect(entry).toMatchObject({
      streamVersion: 2,
      receivedAtUs: 1,
      timestampUs: undefined,
      notes: {
        reason: 'schema_mismatch',
        message: 'is too hot',
        details: refusal.details,
        source: 'mqtt',
        origin: { offset: 9, index: 0 },
      },
    })
    expect(entry?.payload).toHaveLength(0)
  })

  test('name every entry that was deleted', () => {
    fc.assert(
      fc.property(fc.array(fc.maxSafeNat(), { minLength: 1 }), (offsets) => {
        const [notes] = readBack(
          (writer) => writer.removed(stream, offsets, 1),
          (reader) => reader.removalNotes,
        )
        expect(notes).toEqual({ offsets })
      }),
    )
  })
})
