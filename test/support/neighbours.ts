import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import * as fc from 'fast-check'

/** How batches of a format are put together of elements that are bytes already, good and bad ones. */
export interface BatchFormat {
  readonly name: 'json' | 'ndjson' | 'cbor' | 'msgpack'
  readonly mediaType: string
  readonly encode: (reading: object) => Uint8Array
  /** Elements that may not be stored, and of which it is known where they end. */
  readonly bad: fc.Arbitrary<Uint8Array>
  readonly join: (elements: readonly Uint8Array[]) => Uint8Array
}

function text(content: string): Uint8Array {
  return Buffer.from(content)
}

function bytes(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)))
}

function hex(content: string): Uint8Array {
  return Buffer.from(content, 'hex')
}

/** Members that make an object unfit, whatever stands beside them. */
const badMembers = fc.oneof(
  fc.constantFrom(
    '"a":1,"a":2',
    '"a":1,"a":1',
    '"a":1,"\\u0061":2',
    '"a":{"b":1,"b":2}',
    '"a":[{"b":1,"b":{}}]',
    '"a":9007199254740993',
    '"a":-9007199254740993',
    '"a":[[9007199254740993]]',
    '"a":"\\u0000"',
    '"\\u0000":1',
    '"a":"\\ud800"',
    '"a":"x\\udc00 ] , {"',
    '"a":["\\udbff\\ud800"]',
    '"__proto__":1,"__proto__":2',
  ),
  fc.integer({ min: 64, max: 3_000 }).map((deep) => `"a":${'['.repeat(deep)}${']'.repeat(deep)}`),
  fc
    .integer({ min: 64, max: 3_000 })
    .map((deep) => `"a":${'{"b":'.repeat(deep)}1${'}'.repeat(deep)}`),
)

/** Bytes that are no UTF-8: a surrogate, half a character before a quote, and others. */
const noUtf8 = fc
  .constantFrom('eda080', 'ff', 'c3', 'e282', 'f09f98', 'c0af', '80', 'f5808080')
  .map((content) => bytes('{"a":"', hex(content), '"}'))

const badJson = fc.oneof(
  fc
    .tuple(badMembers, fc.constantFrom('', '"note":"], [\\"}",', ' "z" : 1 ,'))
    .map(([members, before]) => text(`{${before}${members}}`)),
  noUtf8,
)

const deepItems = fc.integer({ min: 64, max: 3_000 })

const badCbor = fc.oneof(
  fc
    .constantFrom(
      'a2616101616102', // a key twice
      'bf616101616102ff', // the same, of unknown length
      'a16161a2616201616202', // deeper
      'a161611b0020000000000001', // 2^53 + 1
      'a161613b0020000000000000', // -(2^53 + 1)
      'a161616100', // U+0000
      'a1616163eda080', // a surrogate
      'a1616161ff',
      'a10102', // a key that is a number
      'a1f602',
      'a161614101', // bytes
      'a161615f4101ff',
      'a161617f6161ff', // a text of unknown length
      'a16161f7', // undefined
      'a16161c243010203', // a large number
      'a16161c1c101', // a tag in a tag
      'a16161d9d9f701',
      'a16161f8ff', // a simple value
      'a1829f01ff0201', // a key that is an array
    )
    .map(hex),
  deepItems.map((deep) => bytes(hex('a16161'), hex('81'.repeat(deep)), hex('01'))),
  deepItems.map((deep) => bytes(hex('a16161'), hex('9f'.repeat(deep)), hex('ff'.repeat(deep)))),
)

const badMsgpack = fc.oneof(
  fc
    .constantFrom(
      '82a16101a16102', // a key twice
      '82a16101d9016102',
      '81a16182a16201a16202',
      '81a161cf0020000000000001', // 2^53 + 1
      '81a161d3ffdfffffffffffff',
      '81a161a100', // U+0000
      '81a161a3eda080', // a surrogate
      '81a161d901ff',
      '810102', // a key that is a number
      '81c002',
      '81a161c40101', // bytes
      '81a161c5000101',
      '81a161c70105ff', // extensions
      '81a161d40101',
      '81a161d80100000000000000000000000000000000',
      '8192010201', // a key that is an array
    )
    .map(hex),
  deepItems.map((deep) => bytes(hex('81a161'), hex('91'.repeat(deep)), hex('01'))),
)

/** Formats of which an array of readings is known to the byte. */
export const batchFormats: readonly BatchFormat[] = [
  {
    name: 'json',
    mediaType: 'application/json',
    encode: (reading) => text(JSON.stringify(reading)),
    bad: badJson,
    join: (elements) =>
      bytes('[', ...elements.flatMap((one, index) => (index === 0 ? [one] : [' ,\n', one])), ' ]'),
  },
  {
    name: 'ndjson',
    mediaType: 'application/x-ndjson',
    encode: (reading) => text(JSON.stringify(reading)),
    bad: fc.oneof(badJson, fc.constantFrom('{', 'nothing', '[1,2', '\ufeff{}').map(text)),
    join: (elements) => bytes(...elements.flatMap((one) => [one, '\r\n'])),
  },
  {
    name: 'cbor',
    mediaType: 'application/cbor',
    encode: (reading) => encodeCbor(reading),
    bad: badCbor,
    join: (elements) => bytes(hex('9f'), ...elements, hex('ff')),
  },
  {
    name: 'msgpack',
    mediaType: 'application/vnd.msgpack',
    encode: (reading) => encodeMsgpack(reading),
    bad: badMsgpack,
    join: (elements) =>
      bytes(hex('dc'), Buffer.of(elements.length >> 8, elements.length & 0xff), ...elements),
  },
]

/** An element of a batch: good ones have a number of their own. */
export interface Element {
  readonly isGood: boolean
  readonly bytes: Uint8Array
}

/** Elements in any order, some of which may not be stored. */
export function elementsOf({ encode, bad }: BatchFormat): fc.Arbitrary<readonly Element[]> {
  const good = fc
    .record({ level: fc.integer(), note: fc.string({ unit: 'grapheme' }) })
    .filter(({ note }) => note.isWellFormed() && !note.includes('\0'))
    .map((reading): Element => ({ isGood: true, bytes: encode(reading) }))
  const refused = bad.map((element): Element => ({ isGood: false, bytes: element }))
  return fc.array(fc.oneof(good, refused), { minLength: 1, maxLength: 12 })
}
