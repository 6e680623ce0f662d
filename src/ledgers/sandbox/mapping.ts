/** Bytes of a code that is written in hex (XRP Ledger, "Currency Codes": 160 bits). */
const codeBytes = 20

/** Characters of which the XRP Ledger takes three as a code (the same page, "Standard Currency Codes"). */
const standardCode = /^[A-Za-z0-9?!@#$%^&*<>(){}[\]|]{3}$/

/** It has no issuer, so nobody can issue something of its name. */
const nativeCode = 'XRP'

/**
 * A code as the XRP Ledger writes it, and the sandbox as well: three characters as they are, all else as 40
 * hexadecimal digits, filled up with zeros.
 *
 * @throws RangeError when it has no bytes, or more than 20
 */
export function mappingOf(assetCode: string): string {
  if (standardCode.test(assetCode) && assetCode !== nativeCode) return assetCode
  const bytes = Buffer.from(assetCode, 'utf8')
  if (bytes.length === 0 || bytes.length > codeBytes) {
    throw new RangeError(`a code has 1 to ${codeBytes} bytes, and this one ${bytes.length}`)
  }
  return bytes
    .toString('hex')
    .toUpperCase()
    .padEnd(2 * codeBytes, '0')
}
