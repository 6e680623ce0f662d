import { createRequire } from 'node:module'

/**
 * An address of a network of the EVM, with capitals where the hash of its small letters has a high digit (EIP-55): nearly every typing
 * error shows.
 *
 * @param address `0x` and 40 hexadecimal digits, large or small
 */
export function checksummed(address: string): string {
  // Settings are read at each start, and few have an address among them.
  const { keccak_256: hash } = createRequire(import.meta.url)(
    '@noble/hashes/sha3.js',
  ) as typeof import('@noble/hashes/sha3.js')
  const small = address.slice(2).toLowerCase()
  const digits = Buffer.from(hash(Buffer.from(small))).toString('hex')
  const spelled = small.replaceAll(/[a-f]/g, (digit, at: number) =>
    Number.parseInt(digits[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${spelled}`
}

/** Whether an address is spelled as its checksum wants, or has none: letters of one kind alone say nothing. */
export function isSpelledRight(address: string): boolean {
  const letters = address.slice(2).replaceAll(/\d/g, '')
  const hasChecksum = letters !== letters.toLowerCase() && letters !== letters.toUpperCase()
  return !hasChecksum || checksummed(address) === address
}
