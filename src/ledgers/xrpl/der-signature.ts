const partBytes = 32

/**
 * A signature of secp256k1 as nodes read it: two integers in DER, each as short as it can be
 * (https://xrpl.org/docs/concepts/transactions/finality-of-results/transaction-malleability).
 *
 * @param signature r and s, 32 bytes each; s is the lower one
 */
export function derOf(signature: Uint8Array): Buffer {
  if (signature.length !== 2 * partBytes) throw new RangeError('a signature has 64 bytes')
  const [r, s] = [
    integerOf(signature.subarray(0, partBytes)),
    integerOf(signature.subarray(partBytes)),
  ]
  return Buffer.concat([Buffer.of(0x30, r.length + s.length), r, s])
}

/** Without zeros in front, but for one where it would be negative. */
function integerOf(part: Uint8Array): Buffer {
  const first = part.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Buffer.of(0) : Buffer.from(part.subarray(first))
  const bytes = (digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits
  return Buffer.concat([Buffer.of(0x02, bytes.length), bytes])
}
