import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileExpression } from '../../processors/expression.ts'
import type { FieldMap } from '../../src/contracts/stream-schema.ts'

const fields: FieldMap = {
  data: { type: 'string' },
  base64: { type: 'string' },
  a: { type: 'integer' },
  b: { type: 'integer' },
}

function evaluated(expression: string, values: object = {}): unknown {
  const result = compileExpression(expression, fields)({ ...values }, () => '')
  return 'value' in result ? result.value : { problem: result.problem }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

const orders = fc.constantFrom('BE', 'LE')

/** Bytes, and a part of them that may be a number. */
const parts = fc
  .tuple(fc.uint8Array({ minLength: 1, maxLength: 30 }), fc.nat(), fc.integer({ min: 1, max: 8 }))
  .map(([bytes, at, wanted]) => {
    const offset = at % bytes.length
    return { bytes, offset, length: Math.min(wanted, bytes.length - offset) }
  })

/** The number that is in a part of some bytes, by views of it that has eight. */
function integerOf(
  { bytes, offset, length }: { bytes: Uint8Array; offset: number; length: number },
  isLittle: boolean,
): bigint {
  const padded = new Uint8Array(8)
  padded.set(bytes.subarray(offset, offset + length), isLittle ? 0 : 8 - length)
  return new DataView(padded.buffer).getBigUint64(0, isLittle)
}

describe('bytes', () => {
  test('are integers in either order, with and without a sign, as views of them say', () => {
    fc.assert(
      fc.property(parts, orders, fc.boolean(), (part, order, isUpper) => {
        const { bytes, offset, length } = part
        const data = isUpper ? hexOf(bytes).toUpperCase() : hexOf(bytes)
        const at = `(${offset}, ${length})`
        const expected = integerOf(part, order === 'LE')
        const signed = BigInt.asIntN(8 * length, expected)
        expect(evaluated(`hex(data).int${order}${at}`, { data })).toBe(signed)
        const unsigned = evaluated(`hex(data).uint${order}${at}`, { data })
        if (expected < 2n ** 63n) expect(unsigned).toBe(expected)
        else
          expect(unsigned).toEqual({
            problem: expect.stringContaining('not an integer of 64 bits'),
          })
      }),
    )
  })

  test('are floating-point numbers of 4 and 8 bytes', () => {
    fc.assert(
      fc.property(fc.double(), fc.constantFrom(4, 8), orders, (number, length, order) => {
        const view = new DataView(new ArrayBuffer(1 + length))
        const isLittle = order === 'LE'
        if (length === 4) view.setFloat32(1, number, isLittle)
        else view.setFloat64(1, number, isLittle)
        const data = hexOf(new Uint8Array(view.buffer))
        expect(evaluated(`hex(data).float${order}(1, ${length})`, { data })).toBe(
          length === 4 ? Math.fround(number) : number,
        )
      }),
    )
  })

  test('can come in base64, in any of its spellings', () => {
    fc.assert(
      fc.property(
        parts,
        fc.constantFrom('base64', 'base64url'),
        fc.boolean(),
        (part, kind, cut) => {
          const { bytes, offset } = part
          const text = Buffer.from(bytes).toString(kind)
          const data = cut ? text.replaceAll('=', '') : text
          const expected = BigInt(bytes[offset] ?? 0)
          expect(evaluated(`base64.decode(data).uintBE(${offset}, 1)`, { data })).toBe(expected)
          expect(evaluated('size(base64.decode(data))', { data })).toBe(BigInt(bytes.length))
        },
      ),
    )
  })

  test('take bits from numbers, as integers of 64 bits do', () => {
    const integers = fc.maxSafeInteger()
    fc.assert(
      fc.property(integers, integers, fc.integer({ min: 0, max: 70 }), (a, b, by) => {
        const values = { a, b }
        const [left, right] = [BigInt(a), BigInt(b)]
        expect(evaluated('math.bitAnd(a, b)', values)).toBe(left & right)
        expect(evaluated('math.bitOr(a, b)', values)).toBe(left | right)
        expect(evaluated('math.bitXor(a, b)', values)).toBe(left ^ right)
        expect(evaluated('math.bitNot(a)', values)).toBe(~left)
        expect(evaluated(`math.bitShiftLeft(a, ${by})`, values)).toBe(
          by > 63 ? 0n : BigInt.asIntN(64, left << BigInt(by)),
        )
        expect(evaluated(`math.bitShiftRight(a, ${by})`, values)).toBe(
          by > 63 ? 0n : BigInt.asIntN(64, BigInt.asUintN(64, left) >> BigInt(by)),
        )
      }),
    )
  })

  test.each([
    ['hex("0512FC")', 'uintBE(2, 2)', 'uintBE(2, 2) is beyond the 3 bytes that there are'],
    ['hex("0512FC")', 'intLE(-1, 2)', 'intLE(-1, 2) is beyond'],
    ['hex("0512FC")', 'intLE(9223372036854775807, 8)', 'is beyond'],
    ['hex("0512FC")', 'uintBE(0, 0)', 'uintBE: a number has 1 to 8 bytes, and not 0'],
    ['hex("0512FC")', 'uintBE(0, 9)', 'uintBE: a number has 1 to 8 bytes'],
    [
      'hex("8000000000000000")',
      'uintBE(0, 8)',
      'uintBE: 9223372036854775808 is not an integer of 64',
    ],
    ['hex("0512FC")', 'floatBE(0, 3)', 'floatBE: a floating-point number has 4 or 8 bytes'],
    ['hex("0512F")', 'uintBE(0, 1)', 'hex: the text is no pairs of hexadecimal digits'],
    ['hex("05 12")', 'uintBE(0, 1)', 'hex: the text is no pairs'],
    ['hex("0x05")', 'uintBE(0, 1)', 'hex: the text is no pairs'],
    ['base64.decode("AQ*=")', 'uintBE(0, 1)', 'base64.decode: the text is not base64'],
    ['base64.decode("AQIDB")', 'uintBE(0, 1)', 'base64.decode: the text is not base64'],
    ['base64.decode("=")', 'uintBE(0, 1)', 'is beyond the 0 bytes'],
  ])('%s.%s is an error that says what is wrong', (bytes, call, problem) => {
    expect(evaluated(`${bytes}.${call}`)).toEqual({ problem: expect.stringContaining(problem) })
  })

  test('cannot be shifted by less than nothing', () => {
    expect(evaluated('math.bitShiftLeft(1, -1)')).toEqual({
      problem: expect.stringContaining('bitShiftLeft: cannot shift by -1 bits'),
    })
  })

  test('leave a field that is called base64 what it is', () => {
    expect(evaluated('base64.contains("a") && size(base64) == 3', { base64: 'abc' })).toBe(true)
    expect(() => compileExpression('base64.encode(data)', fields)).toThrow('no function encode')
    expect(() => compileExpression('data.decode()', fields)).toThrow('no function decode')
  })

  test('cost what they are long', () => {
    const data = '00'.repeat(100_000)
    const tooMuch = { problem: expect.stringContaining('needs more work') as string }
    for (const call of ['hex(data)', 'base64.decode(data)']) {
      expect(evaluated(`size(${call})`, { data })).toEqual(tooMuch)
    }
    const some = { data: '00'.repeat(2_000) }
    expect(evaluated('hex(data) == hex(data) + b"1" || true', some)).toBe(true)
    expect(evaluated(`${Array(20).fill('hex(data)').join('+')} == b""`, some)).toEqual(tooMuch)
  })
})

describe('a payload of a Ruuvi tag, RAWv2, from the test vectors of its specification', () => {
  const valid = { data: '0512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F' }
  const greatest = { data: '057FFFFFFEFFFE7FFF7FFF7FFFFFDEFEFFFECBB8334C884F' }
  const power = 'hex(data).uintBE(13, 2)'

  test.each([
    ['hex(data).intBE(1, 2) * 0.005', 24.3, 163.835],
    ['hex(data).uintBE(3, 2) * 0.0025', 53.49, 163.835],
    ['hex(data).uintBE(5, 2) + 50000', 100_044n, 115_534n],
    ['hex(data).intBE(9, 2)', -4n, 32_767n],
    [`math.bitShiftRight(${power}, 5) + 1600`, 2_977n, 3_646n],
    [`math.bitAnd(${power}, 31) * 2 - 40`, 4n, 20n],
    ['hex(data).uintBE(15, 1)', 66n, 254n],
    ['hex(data).uintBE(16, 2)', 205n, 65_534n],
    ['data.substring(36).lowerAscii()', 'cbb8334c884f', 'cbb8334c884f'],
  ])('%s', (expression, ofValid, ofGreatest) => {
    for (const [values, expected] of [
      [valid, ofValid],
      [greatest, ofGreatest],
    ] as const) {
      const found = evaluated(expression, values)
      if (typeof expected === 'number') expect(found).toBeCloseTo(expected, 9)
      else expect(found).toBe(expected)
    }
  })
})
