import * as fc from 'fast-check'
import type {
  AcceptedReading,
  FilteredReading,
  RefusedReading,
  StreamVersion,
} from '../../src/contracts/reading.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { RefusalReason } from '../../src/core/refusal-catalogue.ts'
import { type Entry, type Origin, streamIdOf } from '../../src/ingest/pipeline/entry.ts'
import { readEntries } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter, type ReceivedBytes } from '../../src/ingest/pipeline/entry-writer.ts'

interface Accepted {
  readonly stream: StreamVersion
  readonly receivedAtUs: number
  readonly reading: AcceptedReading
  readonly origin?: Origin
}

interface Quarantined {
  readonly stream: StreamVersion
  readonly refusal: RefusedReading
  readonly received: ReceivedBytes
  readonly origin?: Origin
}

interface Filtered {
  readonly stream: StreamVersion
  readonly receivedAtUs: number
  readonly filtered: FilteredReading
  readonly origin?: Origin
}

export type Written = Accepted | Quarantined | Filtered

function streamVersion(streamId: string, version = 1): StreamVersion {
  return {
    streamId: streamId as StreamId,
    ownerId: 'owner' as UserId,
    version,
    schema: {
      fields: {},
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
    },
  }
}

export function acceptedReading(overrides: Partial<AcceptedReading> = {}): AcceptedReading {
  return {
    accepted: true,
    timestampUs: 1_000,
    values: '{"level":1}',
    extra: '',
    flagged: [],
    digest: '00000000000000ff',
    ...overrides,
  }
}

export const anyStream = streamVersion('01234567-89ab-4def-8123-456789abcdef')
const times = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, Number.MAX_SAFE_INTEGER))
const codePoints = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
const texts = fc.string({ unit: codePoints })
const objects = fc.dictionary(texts, texts, { maxKeys: 3 }).map((value) => JSON.stringify(value))
const reasons = fc.constantFrom<RefusalReason>('malformed', 'schema_mismatch', 'timestamp_invalid')

/** A few streams, as objects that are shared: writers know streams by their object. */
const streams = fc.constantFrom(
  anyStream,
  streamVersion('01234567-89ab-4def-8123-456789abcdef', 2 ** 32 - 1),
  streamVersion('ffffffff-ffff-4fff-bfff-ffffffffffff', 7),
)

const origins = fc.record({ offset: fc.maxSafeNat(), index: fc.nat(10_000) })
const origin = fc.option(origins, { nil: undefined })

export const accepted: fc.Arbitrary<Accepted> = withOrigin({
  stream: streams,
  receivedAtUs: times,
  reading: fc
    .record({
      timestampUs: times,
      values: objects,
      extra: fc.oneof(fc.constant(''), objects),
      flagged: fc.array(fc.string()),
      digest: fc.stringMatching(/^[0-9a-f]{16}$/),
    })
    .map(acceptedReading),
})

export const quarantined: fc.Arbitrary<Quarantined> = withOrigin({
  stream: streams,
  refusal: fc.record({
    accepted: fc.constant(false as const),
    reason: reasons,
    message: texts,
    details: fc.array(fc.record({ path: texts, message: texts }), { maxLength: 3 }),
    timestampUs: fc.option(times, { nil: undefined }),
  }),
  received: fc.record({
    atUs: times,
    source: texts,
    payload: fc.uint8Array({ maxLength: 200 }),
    isElement: fc.boolean(),
    format: fc.constantFrom('json' as const, 'cbor' as const),
  }),
})

const filtered: fc.Arbitrary<Filtered> = withOrigin({
  stream: streams,
  receivedAtUs: times,
  filtered: fc.record({
    accepted: fc.constant(true as const),
    isFiltered: fc.constant(true as const),
    timestampUs: times,
    digest: fc.stringMatching(/^[0-9a-f]{16}$/),
  }),
})

/** With an origin in half of the cases, and none at all in the others. */
function withOrigin<Fields>(
  model: {
    readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]>
  },
): fc.Arbitrary<Fields & { readonly origin?: Origin }> {
  return fc
    .tuple(fc.record<Fields>(model), origin)
    .map(([fields, of]) => ({ ...fields, ...(of && { origin: of }) }))
}

export const sequences = fc.array(fc.oneof(accepted, quarantined, filtered), { maxLength: 10 })

export function write(writer: EntryWriter, one: Written): void {
  if ('reading' in one) writer.accepted(one.stream, one.reading, one.receivedAtUs, one.origin)
  else if ('filtered' in one) {
    writer.filtered(one.stream, one.filtered, one.receivedAtUs, one.origin)
  } else writer.quarantined(one.stream, one.refusal, one.received, one.origin)
}

export function written(sequence: readonly Written[]): Uint8Array<ArrayBuffer> {
  const writer = new EntryWriter()
  for (const one of sequence) write(writer, one)
  return writer.take().bytes
}

/** What a reader should make of it. */
export function expected(one: Written): object {
  const stream = { streamId: one.stream.streamId, streamVersion: one.stream.version }
  if ('reading' in one) {
    const { digest, extra, ...reading } = one.reading
    return {
      ...stream,
      ...reading,
      receivedAtUs: one.receivedAtUs,
      digest: Buffer.from(digest, 'hex').readBigUInt64LE(),
      extra: extra === '' ? undefined : extra,
    }
  }
  if ('filtered' in one) {
    const { receivedAtUs } = one
    const { timestampUs, digest: hex } = one.filtered
    const digest = Buffer.from(hex, 'hex').readBigUInt64LE()
    return { ...stream, receivedAtUs, accepted: false, filtered: true, timestampUs, digest }
  }
  const { reason, message, details, timestampUs } = one.refusal
  const { atUs: receivedAtUs, source, payload, isElement, format } = one.received
  const notes = {
    reason,
    message,
    details,
    source,
    ...(format !== 'json' && { format }),
    ...(isElement && { element: true }),
    ...(one.origin && { origin: one.origin }),
  }
  return { ...stream, accepted: false, receivedAtUs, timestampUs, notes, payload: [...payload] }
}

/** An entry in a form that can be compared, independent of the memory it was read from. */
export function plain(entry: Entry): object {
  const { streamKey, ...rest } = entry
  const payload = 'payload' in entry ? { payload: [...entry.payload] } : {}
  return { streamId: streamIdOf(streamKey), ...rest, ...payload }
}

export const readAll = (bytes: Uint8Array, skipped = 0) =>
  [...readEntries(bytes, skipped)].map(plain)
