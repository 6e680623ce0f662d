import * as fc from 'fast-check'

/** The smallest, the largest, and those at which ways of writing numbers change. */
export const edgeNumbers: readonly number[] = [
  0,
  -0,
  5e-324,
  -5e-324,
  2.225_073_858_507_201e-308,
  2.225_073_858_507_201_4e-308,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  1e-7,
  0.000_001,
  0.1,
  Math.fround(0.1),
  Math.fround(3.402_823_466_385_288_6e38),
  Math.fround(1.401_298_464_324_817e-45),
  1e15,
  1e16,
  1e19,
  1e20,
  1e21,
  1e22,
  6.02e20,
  -6.02e20,
  999_999_999_999_999_900_000,
  123_456_789_012_345_680_000,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53) - 2,
  2 ** 63,
  2 ** 63 + 2048,
  -(2 ** 63),
  2 ** 64 - 2048,
  2 ** 64,
  2 ** 69,
]

/** Any finite double, among them many of those that are written as long integers. */
export const anyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(...edgeNumbers),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 2 ** 53, max: 1e21, noNaN: true }),
  fc.double({ min: -1e21, max: -(2 ** 53), noNaN: true }),
)

/** Any integer of 64 bits, with a sign or without, among them many that are doubles or are written like one. */
export const anyLong: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 16n }),
  fc.bigInt({ min: -(2n ** 53n) - 16n, max: -(2n ** 53n) + 4n }),
  fc.constantFrom(2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 63n + 2048n, -(2n ** 63n)),
  fc.constantFrom(2n ** 64n - 1n, 2n ** 64n - 1024n, 2n ** 64n - 2048n),
  fc.bigInt({ min: 2n ** 52n, max: 2n ** 64n - 1025n }).map((value) => BigInt(Number(value))),
  fc.double({ min: 2 ** 53, max: 1.844e19, noNaN: true }).map((value) => BigInt(String(value))),
  fc.double({ min: -9.2e18, max: -(2 ** 53), noNaN: true }).map((value) => BigInt(String(value))),
)

/** Whether a double keeps an integer: it is that one, or ECMAScript writes it with the same digits. */
export function isKept(value: bigint): boolean {
  const double = Number(value)
  return BigInt(double) === value || String(double) === String(value)
}
