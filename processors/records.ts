import type { DecodedMessage, DecodedStream, UndecodableMessage } from '../src/contracts/reading.ts'
import type { PayloadFormat } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { batchOf } from './decode-batch.ts'
import { claimOf } from './timestamp.ts'
import { writtenJson } from './written-json.ts'

/** A row of a protocol whose rows name their values: a line of the line protocol, a sample of Prometheus, a point of OTLP. */
export interface SampleRecord {
  readonly members: Readonly<Record<string, unknown>>
  /** Microseconds since the epoch; undefined: the row says no time, and has that of its receipt. */
  readonly timeUs: number | undefined
}

/** A row that cannot be read although its neighbours can, with its bytes in the format of its message. */
export interface RefusedRecord {
  readonly problem: string
  readonly kept: Uint8Array
}

/** All rows of a message, in its order. */
export type Records = readonly (SampleRecord | RefusedRecord)[]

/**
 * The rows as readings of a stream: flat objects with the time where the stream has it. The quarantine keeps each as
 * JSON, so that it can be read without its protocol; one that could not be read it keeps as it came.
 *
 * @param format of rows that could not be read
 */
export function messageOfRecords(
  records: Records,
  stream: DecodedStream,
  format: PayloadFormat,
): DecodedMessage | UndecodableMessage {
  const unreadable = new Map<number, string>()
  const elementFormats = new Map<number, PayloadFormat>()
  const readings = records.map((record, index) => {
    if ('problem' in record) {
      unreadable.set(index, record.problem)
      return undefined
    }
    elementFormats.set(index, 'json')
    return readingOf(record, stream)
  })
  const elements = () =>
    records.map((record, index) =>
      'problem' in record ? record.kept : Buffer.from(writtenJson(readings[index])),
    )
  return batchOf({ readings, format, unreadable, elements, elementFormats })
}

/** A row as a reading of a stream. */
export function readingOf({ members, timeUs }: SampleRecord, { schema }: DecodedStream): object {
  if (timeUs === undefined) return members
  const { timestampField, timestampFormat } = schema
  const time = timeMemberOf(schema) ?? timestampField
  return { ...members, [time]: claimOf(timeUs, timestampFormat) }
}
