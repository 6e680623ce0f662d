import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'

/** What a test says of one entry of the journal. */
export interface JournalledReading {
  readonly accepted: boolean
  readonly streamId: StreamId
  readonly receivedAtUs: number
  /** The time of an accepted one; 1 when it does not matter. */
  readonly timestampUs?: number
  /** The version of its stream; 3 when it does not matter. */
  readonly version?: number
  readonly payload: Uint8Array
}

/** An accepted reading, as far as a test does not say otherwise. */
export function journalled(
  notes: Pick<JournalledReading, 'streamId'> & Partial<JournalledReading>,
): JournalledReading {
  const payload = Buffer.from('{"temperature":"hot"}')
  return { accepted: true, receivedAtUs: 86_400_000_000, payload, ...notes }
}

/** The bytes that the journal keeps of them. */
export function written(entries: readonly JournalledReading[]) {
  const writer = new EntryWriter()
  for (const entry of entries) {
    const { accepted, streamId, receivedAtUs, timestampUs = 1, version = 3, payload } = entry
    const schema = {
      fields: {},
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
    } as const
    const stream = { streamId, ownerId: newId<UserId>(), version, schema }
    if (accepted) {
      const reading = { values: '{}', extra: '', flagged: [], digest: '00000000000000ff' }
      writer.accepted(stream, { accepted, timestampUs, ...reading }, receivedAtUs)
    } else {
      const reason = 'schema_mismatch' as const
      const details = [{ path: 'temperature', message: 'must be a number' }]
      const refusal = { reason, message: 'is not valid', details, timestampUs: undefined }
      const received = {
        atUs: receivedAtUs,
        source: 'http 127.0.0.1',
        payload,
        isElement: false,
      }
      writer.quarantined(stream, { accepted, ...refusal }, received)
    }
  }
  return writer.take()
}
