import * as fc from 'fast-check'
import * as library from 'node-opcua-client'
import { describe, expect, test } from 'vitest'
import { ValueTexts } from '../../connectors/opcua/values.ts'

const { DataType, DataValue, StatusCodes, Variant, VariantArrayType } = library
const texts = new ValueTexts(library)
const scalar = VariantArrayType.Scalar

function textOf(kind: keyof typeof DataType, value: unknown, arrayType = scalar) {
  return texts.textOf(new Variant({ dataType: DataType[kind], arrayType, value }))
}

function stateOf(statusCode: library.StatusCode) {
  return texts.stateOf(new DataValue({ statusCode }))
}

describe('values of OPC UA', () => {
  test.each([
    ['Boolean', true, 'true'],
    ['Float', Math.fround(21.3), '21.3'],
    ['Double', 0.1, '0.1'],
    ['Double', Number.NaN, undefined],
    ['Float', Number.POSITIVE_INFINITY, undefined],
    ['Int16', -5, '-5'],
    ['String', 'a "b"', '"a \\"b\\""'],
    ['String', null, undefined],
    ['DateTime', new Date('2026-03-01T00:00:00.250Z'), '"2026-03-01T00:00:00.250Z"'],
    ['ByteString', Buffer.from([1, 2, 255]), '"AQL/"'],
    ['LocalizedText', new library.LocalizedText({ text: 'warm' }), '"warm"'],
    ['StatusCode', StatusCodes.BadTimeout, '"BadTimeout"'],
    ['NodeId', library.coerceNodeId('ns=2;s=a'), '"ns=2;s=a"'],
  ] as const)('%s %o is %s', (kind, value, text) => {
    expect(textOf(kind, value)).toBe(text)
  })

  test('lists are lists, without what is no number', () => {
    const list = new Float64Array([1, Number.NaN, 0.5])
    expect(textOf('Double', list, VariantArrayType.Array)).toBe('[1,null,0.5]')
  })

  test('long integers have all their digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (value) => {
        const bits = BigInt.asUintN(64, value)
        const words = [Number(bits >> 32n), Number(bits & 0xffff_ffffn)]
        const kind = value < 2n ** 63n ? 'Int64' : 'UInt64'
        expect(textOf(kind, words)).toBe(String(value))
      }),
    )
  })

  test('times are those of the source, to the microsecond, then those of the server', () => {
    const source = new Date('2026-03-01T00:00:00.250Z')
    const other = new Date('2026-03-02T00:00:00Z')
    const none = new Date('1601-01-01T00:00:00Z')
    const at = (options: object) => texts.timeOf(new DataValue(options), other)
    expect(at({ sourceTimestamp: source })).toBe('2026-03-01T00:00:00.250Z')
    expect(at({ sourceTimestamp: source, sourcePicoseconds: 123_400_000 })).toBe(
      '2026-03-01T00:00:00.250123Z',
    )
    expect(at({ sourceTimestamp: none, serverTimestamp: source })).toBe('2026-03-01T00:00:00.250Z')
    expect(at({ sourceTimestamp: null })).toBe('2026-03-02T00:00:00Z')
  })

  test('what is not plainly good is told', () => {
    const overflow = library.StatusCode.makeStatusCode(
      StatusCodes.Good,
      'Overflow | InfoTypeDataValue',
    )
    expect(stateOf(StatusCodes.Good)).toBeUndefined()
    expect(stateOf(StatusCodes.BadSensorFailure)).toBe('BadSensorFailure')
    expect(stateOf(overflow)).toBe('Good, Overflow')
  })
})
