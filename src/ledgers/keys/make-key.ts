import { checksummed } from '../../core/evm-address.ts'
import type { LedgerFamily } from '../../core/ledger-settings.ts'
import type { KeyPair } from './ledger-key.ts'

/** A new key: Ed25519 for XRPL, which takes both, and secp256k1 for EVM. */
export async function newKey(family: LedgerFamily): Promise<KeyPair> {
  if (family === 'xrpl') {
    const { generateSeed } = await xrplKeys()
    return await xrplKey(generateSeed({ algorithm: 'ed25519' }))
  }
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  return await evmKey(secp256k1.utils.randomSecretKey())
}

/** How the secret of an account is written, for whoever brings one along. */
export const secretForms: Readonly<Record<LedgerFamily, string>> = {
  xrpl: 'the seed of a family, such as s...',
  evm: 'a private key of 32 bytes, hexadecimal',
}

/** The key that somebody brings along; undefined where the text is none. What is wrong is not said: it may show the secret. */
export async function keyOfSecret(
  family: LedgerFamily,
  text: string,
): Promise<KeyPair | undefined> {
  try {
    if (family === 'xrpl') return await xrplKey(text)
    const hex = /^(?:0x)?([\da-f]{64})$/i.exec(text)?.[1]
    return hex === undefined ? undefined : await evmKey(Buffer.from(hex, 'hex'))
  } catch {
    return undefined
  }
}

/** It costs 70 ms to load. */
async function xrplKeys() {
  return (await import('ripple-keypairs')).default
}

/** @throws Error when it is no seed */
async function xrplKey(seed: string): Promise<KeyPair> {
  const { deriveKeypair, deriveAddress } = await xrplKeys()
  const { privateKey, publicKey } = deriveKeypair(seed)
  const isEd25519 = publicKey.startsWith('ED')
  return {
    algorithm: isEd25519 ? 'Ed25519' : 'secp256k1',
    // One byte before it says what it is of: ED, or 00 for a private key of secp256k1.
    publicKey: (isEd25519 ? publicKey.slice(2) : publicKey).toLowerCase(),
    privateKey: privateKey.slice(-64).toLowerCase(),
    account: deriveAddress(publicKey),
  }
}

/** @throws Error when it is 0, or not below the order of the curve */
async function evmKey(privateKey: Uint8Array): Promise<KeyPair> {
  const { secp256k1 } = await import('@noble/curves/secp256k1.js')
  const publicKey = secp256k1.getPublicKey(privateKey, true)
  // The address is of both coordinates, without the byte before them.
  const point = secp256k1.getPublicKey(privateKey, false).subarray(1)
  return {
    algorithm: 'secp256k1',
    publicKey: Buffer.from(publicKey).toString('hex'),
    privateKey: Buffer.from(privateKey).toString('hex'),
    account: checksummed(`0x${(await keccak256(point)).toString('hex').slice(-40)}`),
  }
}

async function keccak256(bytes: Uint8Array): Promise<Buffer> {
  const { keccak_256: hash } = await import('@noble/hashes/sha3.js')
  return Buffer.from(hash(bytes))
}
