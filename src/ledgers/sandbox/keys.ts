import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  isKeyText,
  jwkOf,
  keyIdOf,
  type PublicJwk,
  type PublishedKeys,
} from '../proofs/public-key.ts'
import { chainFile, keysFile } from './files.ts'

/** What keeps the private keys secret at rest. */
export interface Cipher {
  encrypt(text: string): Buffer
  /** @throws Error when the bytes were encrypted with another key, or changed */
  decrypt(bytes: Uint8Array): string
}

const roles = ['blocks', 'account', 'distribution'] as const

/** What a key of the sandbox signs. */
export type KeyRole = (typeof roles)[number]

export interface SigningKey {
  readonly id: string
  readonly public: PublicJwk
  readonly private: KeyObject
}

export type SandboxKeys = Readonly<Record<KeyRole, SigningKey>>

const format = 'streamvault-ledger-keys-1'

interface StoredKey {
  readonly role: KeyRole
  readonly kid: string
  readonly x: string
  /** Encrypted, in base64. */
  readonly private: string
}

/**
 * The keys of the sandbox in a folder. They are made where there are none, and durable when this resolves.
 *
 * @throws Error when the file cannot be read or written, does not fit the master key, or is gone while there is a chain
 */
export async function ensureSandboxKeys(folder: string, cipher: Cipher): Promise<SandboxKeys> {
  const stored = await storedKeys(folder)
  if (stored) return sandboxKeysOf(stored, cipher)
  if (await hasChain(folder)) {
    throw new Error(`${keysFile} of the sandbox ledger is gone, and its chain is there`)
  }
  const made = roles.map((role) => newKey(role, cipher))
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeDurably(folder, JSON.stringify({ format, keys: made }, null, 2))
  return sandboxKeysOf(made, cipher)
}

/**
 * The public keys of the sandbox, for everybody; no key as long as none was made. Needs neither the ledger nor the
 * master key.
 *
 * @throws Error when the file is there and is not what was written
 */
export async function ledgerKeys(folder: string): Promise<PublishedKeys> {
  const stored = (await storedKeys(folder)) ?? []
  return {
    keys: stored.map(({ role, kid, x }) => ({ ...jwkOf(x), kid, alg: 'EdDSA', use: 'sig', role })),
  }
}

function newKey(role: KeyRole, cipher: Cipher): StoredKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' })
  return { role, kid: keyIdOf(jwkOf(x)), x, private: cipher.encrypt(d).toString('base64') }
}

async function hasChain(folder: string): Promise<boolean> {
  try {
    return (await stat(join(folder, chainFile))).size > 0
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Undefined where there are none. */
async function storedKeys(folder: string): Promise<readonly StoredKey[] | undefined> {
  let text: string
  try {
    text = await readFile(join(folder, keysFile), 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const keys = parsedKeys(text)
  if (!keys) throw new Error(`${keysFile} of the sandbox ledger is damaged`)
  return keys
}

function parsedKeys(text: string): readonly StoredKey[] | undefined {
  try {
    const file = JSON.parse(text) as { format?: unknown; keys?: unknown }
    if (file.format !== format || !Array.isArray(file.keys)) return undefined
    const keys = file.keys as readonly Partial<StoredKey>[]
    if (keys.length !== roles.length) return undefined
    return keys.every((key, at) => key.role === roles[at] && isStoredKey(key))
      ? (keys as readonly StoredKey[])
      : undefined
  } catch {
    return undefined
  }
}

function isStoredKey({ kid, x, private: secret }: Partial<StoredKey>): boolean {
  return (
    typeof x === 'string' &&
    isKeyText(x) &&
    kid === keyIdOf(jwkOf(x)) &&
    typeof secret === 'string' &&
    secret !== ''
  )
}

function sandboxKeysOf(stored: readonly StoredKey[], cipher: Cipher): SandboxKeys {
  const keys = stored.map((key) => [key.role, signingKeyOf(key, cipher)] as const)
  return Object.fromEntries(keys) as SandboxKeys
}

function signingKeyOf({ kid, x, private: secret }: StoredKey, cipher: Cipher): SigningKey {
  let d: string
  try {
    d = cipher.decrypt(Buffer.from(secret, 'base64'))
  } catch {
    // What it says itself is about ciphers, and may one day show what it was given.
    throw new Error(`${keysFile} of the sandbox ledger does not fit the master key`)
  }
  const key = createPrivateKey({ key: { ...jwkOf(x), d }, format: 'jwk' })
  return { id: kid, public: jwkOf(x), private: key }
}

/** After a crash the file is there as a whole or not at all. */
async function writeDurably(folder: string, text: string): Promise<void> {
  const path = join(folder, keysFile)
  const draft = `${path}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolder(folder)
  if ((await readFile(path, 'utf8')) !== text) throw new Error(`${path} could not be written`)
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
