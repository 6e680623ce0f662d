import * as fc from 'fast-check'

/** A line before it is written: what whoever reads it has to find. */
export interface AnyLine {
  readonly measurement: string
  readonly tags: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, WrittenValue>>
  readonly time: bigint | undefined
}

/** A value, and one of the ways to write it. */
export interface WrittenValue {
  readonly value: number | boolean | string
  readonly written: string
}

/** Characters that mean something in some place, beside any others. */
const characters = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(',', ' ', '=', '"', '\\', '#', "'", '\t', '\r', 'n') },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'é', '\u{1F600}') },
)

function textOf(minLength: number): fc.Arbitrary<string> {
  return fc
    .array(characters, { minLength, maxLength: 8 })
    .map((parts) => parts.join(''))
    .filter((text) => text.isWellFormed() && !text.includes('\0'))
}

/** A backslash at the end would escape what ends the name. */
const name = textOf(1).filter((text) => !text.includes('\n') && !text.endsWith('\\'))

const key = name.filter((text) => !['measurement', 'timestamp', '__proto__'].includes(text))

const measurement = name.filter((text) => !/^[#\t]/.test(text))

const string: fc.Arbitrary<WrittenValue> = textOf(0).chain((value) =>
  fc.boolean().map((isSparing) => ({ value, written: quoted(value, isSparing) })),
)

const boolean: fc.Arbitrary<WrittenValue> = fc.oneof(
  fc.constantFrom('t', 'T', 'true', 'True', 'TRUE').map((written) => ({ value: true, written })),
  fc
    .constantFrom('f', 'F', 'false', 'False', 'FALSE')
    .map((written) => ({ value: false, written })),
)

const number: fc.Arbitrary<WrittenValue> = fc.oneof(
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => ({ value: Number(String(value)), written: String(value) })),
  fc
    .tuple(fc.integer({ min: -1000, max: 1000 }), fc.stringMatching(/^\d{1,20}$/))
    .map(([whole, decimals]) => `${whole}.${decimals}`)
    .map((written) => ({ value: Number(written), written })),
  fc
    .constantFrom('1.', '.5', '-.5', '007', '1e3', '1E+3', '1.5e-7', '-0', '0.0000001', '1.50')
    .map((written) => ({ value: Number(written), written })),
  fc.maxSafeInteger().map((value) => ({ value, written: `${value}i` })),
  fc.maxSafeNat().map((value) => ({ value, written: `${value}u` })),
)

export const anyLine: fc.Arbitrary<AnyLine> = fc
  .record({
    measurement,
    tags: fc.dictionary(key, name, { maxKeys: 4, noNullPrototype: true }),
    fields: fc.dictionary(key, fc.oneof(string, boolean, number), {
      minKeys: 1,
      maxKeys: 4,
      noNullPrototype: true,
    }),
    time: fc.option(fc.bigInt({ min: 2_678_400_000_000_000n, max: 7_200_000_000_000_000_000n }), {
      nil: undefined,
    }),
  })
  .filter(({ tags, fields }) => Object.keys(tags).every((one) => !Object.hasOwn(fields, one)))

/** How a line is written; spaces more than needed may stand around its parts. */
export function writtenLine({ measurement: of, tags, fields, time }: AnyLine, space = ' '): string {
  const head = [
    of.replaceAll(/[, ]/g, String.raw`\$&`),
    ...Object.entries(tags).map(([tag, value]) => `${escaped(tag)}=${escaped(value)}`),
  ]
  const values = Object.entries(fields).map(
    ([field, { written: text }]) => `${escaped(field)}=${text}`,
  )
  return `${head.join(',')}${space}${values.join(',')}${time === undefined ? '' : `${space}${time}`}`
}

/** What a reader has to find in a line. */
export function membersOf({ measurement: of, tags, fields }: AnyLine): Record<string, unknown> {
  const values = Object.entries(fields).map(([field, { value }]) => [field, value] as const)
  return { measurement: of, ...tags, ...Object.fromEntries(values) }
}

function escaped(text: string): string {
  return text.replaceAll(/[,= ]/g, String.raw`\$&`)
}

/** @param isSparing whether a backslash is written once where nothing that it could escape stands behind it */
function quoted(text: string, isSparing: boolean): string {
  const pattern = isSparing ? /"|\\(?=["\\]|$)/g : /["\\]/g
  return `"${text.replaceAll(pattern, String.raw`\$&`)}"`
}
