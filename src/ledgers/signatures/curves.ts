/** The prime of edwards25519 (RFC 8032, section 5.1). */
const p25519 = 2n ** 255n - 19n
const d25519 = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n

/** The order of its base point. */
export const order25519 = 2n ** 252n + 27742317777372353535851937790883648493n

/** The prime of P-256, its coefficient and its order (SEC 2, section 2.4.2). */
const p256 = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const b256 = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn
export const order256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** One of the points of order 8; the other one is its opposite. */
const order8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n

/**
 * Second coordinates of the eight points whose order divides 8: whoever has one of them for a key has signatures of
 * whatever text without a private key.
 */
const smallOrders: ReadonlySet<bigint> = new Set([0n, 1n, p25519 - 1n, order8, p25519 - order8])

/** Why 32 bytes are no key of Ed25519 that anybody could trust; undefined where they are one. */
export function problemOfEd25519(bytes: Buffer): string | undefined {
  const y = littleEndian(bytes) & ((1n << 255n) - 1n)
  if (y >= p25519) return 'is not reduced'
  if (smallOrders.has(y)) return 'is a point of small order'
  const square = (y * y) % p25519
  // x² = (y² - 1) / (d y² + 1): the quotient is a square where the product is one.
  const product = ((square - 1n) * (d25519 * square + 1n)) % p25519
  return power(product, (p25519 - 1n) / 2n, p25519) === 1n ? undefined : 'is no point of the curve'
}

/** Why coordinates of 32 bytes each are no key of P-256; undefined where they are one. */
export function problemOfP256(x: Buffer, y: Buffer): string | undefined {
  const [one, other] = [bigEndian(x), bigEndian(y)]
  if (one >= p256 || other >= p256) return 'is not reduced'
  const isOnCurve = (other * other - (one * one * one - 3n * one + b256)) % p256 === 0n
  return isOnCurve ? undefined : 'is no point of the curve'
}

export function littleEndian(bytes: Buffer): bigint {
  return bigEndian(Buffer.from(bytes.toReversed()))
}

export function bigEndian(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}
