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
  -(2 ** 63),
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
