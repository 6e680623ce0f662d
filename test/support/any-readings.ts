import * as fc from 'fast-check'
import { canonicaliserOf } from '../../processors/canonical.ts'
import type { FieldDefinition, FieldMap } from '../../src/contracts/stream-schema.ts'
import { formatUs } from '../../src/core/time.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { anyNumber } from './any-numbers.ts'
import { naughtyTexts } from './naughty-texts.ts'
import { marchUs, storedReading } from './stored-readings.ts'

/** A reading of any content, as the pipeline has it after validation, and its text by itself. */
export interface AnyReading {
  readonly reading: ShippedReading
  /** What `readingText` has to make of it, computed from what was sent. */
  readonly text: string
}

/** Any double but those that JSON cannot write, from its bits. */
const fromBits = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((bits) => new Float64Array(BigUint64Array.of(bits).buffer)[0] as number)
  .filter(Number.isFinite)

const number = fc.oneof(anyNumber, fromBits)

const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((one) => one.replaceAll('\0', '')),
  fc.constantFrom(...naughtyTexts),
)

/** Names that JavaScript, JSON, SQL and the texts themselves use. */
const oddNames = ['constructor', 'toString', 'stream', 'time', 'values', '10', '9', 'é', 'Number']

const name = fc
  .oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...naughtyTexts, ...oddNames))
  .map((one) => one.replaceAll('\0', ''))
  .filter((one) => one !== '__proto__' && one !== 'timestamp')

const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    number,
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}))

const instant = fc
  .oneof(
    fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }),
    fc.constantFrom(-62_135_596_800_000_000n, -1n, 0n, 253_402_300_799_999_999n),
  )
  .map(formatUs)

/** Fields of each type, as a schema declares them. */
const declared: Readonly<Record<string, FieldDefinition>> = {
  Value: { type: 'number' },
  count: { type: 'integer' },
  isOn: { type: 'boolean' },
  note: { type: 'string' },
  at: { type: 'datetime' },
  place: { type: 'object', fields: { since: { type: 'datetime' } } },
  rows: { type: 'array' },
  select: { type: 'number' },
}

const valueOf: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Value: number,
  count: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 53, -(2 ** 53), -0)),
  isOn: fc.boolean(),
  note: text,
  at: instant,
  place: fc
    .tuple(fc.dictionary(name, json, { maxKeys: 4 }), fc.option(instant, { nil: undefined }))
    .map(([members, since]) => ({ ...members, since: since ?? formatUs(0) })),
  rows: fc.array(json, { maxLength: 5 }),
  select: number,
}

/** Times in the range of a test, and those at the edges of months and of what a store takes. */
const anyTime = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5).map((us) => marchUs + us) },
  { weight: 2, arbitrary: fc.nat(3_600_000_000).map((us) => marchUs + us) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1, 999_999, marchUs - 1, Date.UTC(2200, 0) * 1_000 - 1),
  },
)

const sent = fc
  .tuple(
    fc.record(valueOf, { requiredKeys: [] }),
    fc.dictionary(
      name.filter((one) => !Object.hasOwn(declared, one)),
      json,
      { maxKeys: 3 },
    ),
  )
  .map(([fields, extra]): Readonly<Record<string, unknown>> => ({ ...extra, ...fields }))

/** Which fields the schema of a version declares: the others come as `extra`. */
const version = fc.oneof(
  fc.constant(Object.keys(declared)),
  fc.subarray(Object.keys(declared).filter((one) => one !== 'at' && one !== 'place')),
)

/** What a test says of a reading before it is of a stream. */
export interface AnyNotes {
  readonly sent: Readonly<Record<string, unknown>>
  readonly version: readonly string[]
  readonly timestampUs: number
}

/** Readings of several versions of a stream, at few times. */
export const anyNotes: fc.Arbitrary<readonly AnyNotes[]> = fc.array(
  fc.record({ sent, version, timestampUs: anyTime }),
  { minLength: 1, maxLength: 30 },
)

export function anyReading(
  streamId: string,
  { sent: members, version: names, timestampUs }: AnyNotes,
): AnyReading {
  const fields: FieldMap = Object.fromEntries(
    names.map((one) => [one, declared[one] as FieldDefinition]),
  )
  const timestamp = { timestampField: 'timestamp', timestampFormat: 'rfc3339' } as const
  const canonicalise = canonicaliserOf({ fields, validation: 'lenient', ...timestamp })
  const { values, extra, all } = canonicalise(members)
  const reading = storedReading({ streamId, timestampUs, shape: shapeOf(fields) })
  return {
    reading: { ...reading, values, extra: extra === '' ? undefined : extra },
    text: `{"stream":${JSON.stringify(streamId)},"time":"${formatUs(timestampUs)}","values":${all}}`,
  }
}
