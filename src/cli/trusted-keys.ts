import { createPublicKey } from 'node:crypto'
import { statSync } from 'node:fs'
import { isKeyText, jwkOf, keyIdOf } from '../ledgers/proofs/public-key.ts'
import { textOfFile } from './bounded-file.ts'
import { type Input, type Option, UsageError } from './command.ts'

/** Bytes of a file with keys: there can be a thousand of them for content. */
const fileBytesMax = 512 * 1024

/** What keys are for, in a set that says so: blocks of a ledger, or content that the service signs. */
type KeyRole = 'blocks' | 'content'

const setting = 'STREAMVAULT_LEDGER_KEYS'

export const keyOption: Option = {
  name: 'key',
  value: 'KEY',
  summary:
    'A public key that you trust: its id, its 32 bytes in base64url, or a file (JWK, JWK Set, PEM). ' +
    `Without it, the file that ${setting} names.`,
}

/**
 * Ids of the keys that were given with the command, or else pinned by the setting.
 *
 * @throws UsageError when there is no key in what was named
 */
export function trustedKeys({ options }: Input): ReadonlySet<string> {
  const given = options['key']
  if (given !== undefined) return keysOf(given, '--key')
  const pinned = process.env[setting]
  return pinned === undefined || pinned === '' ? new Set() : keysIn(pinned, setting)
}

function keysOf(given: string, where: string): ReadonlySet<string> {
  if (isThere(given)) return keysIn(given, where)
  // An id looks like a key; who has neither cannot make the one of the other.
  if (isKeyText(given)) return new Set([given, keyIdOf(jwkOf(given))])
  throw new UsageError(`${where} is no file, no id of a key, and no key of Ed25519`)
}

function isThere(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true || stat?.isFIFO() === true
}

/** Ids of the keys in a file that are for something. @throws UsageError when there is none */
export function keysIn(
  path: string,
  where: string,
  wanted: KeyRole = 'blocks',
): ReadonlySet<string> {
  const text = keyTextIn(path, where)
  const keys = text.includes('-----BEGIN') ? [keyOfPem(text)] : keysOfJson(text, wanted)
  const ids = keys.filter((x) => x !== undefined).map((x) => keyIdOf(jwkOf(x)))
  if (ids.length === 0) throw new UsageError(`${where}: ${path} has no public key of Ed25519`)
  return new Set(ids)
}

function keyTextIn(path: string, where: string): string {
  try {
    const text = textOfFile(path, fileBytesMax)
    if (text !== undefined) return text
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`${where}: ${path} is too large for keys`)
  }
  throw new UsageError(`${where}: there is no file ${path}`)
}

function keyOfPem(text: string): string | undefined {
  if (text.includes('PRIVATE KEY')) return undefined
  try {
    const { crv, x } = createPublicKey(text).export({ format: 'jwk' })
    return crv === 'Ed25519' ? x : undefined
  } catch {
    return undefined
  }
}

interface MaybeKey {
  readonly kty?: unknown
  readonly crv?: unknown
  readonly x?: unknown
  readonly role?: unknown
}

/** Keys of a set that sign something else are left out. */
function keysOfJson(text: string, wanted: KeyRole): readonly (string | undefined)[] {
  let value: { readonly keys?: unknown } & MaybeKey
  try {
    value = JSON.parse(text) as typeof value
  } catch {
    return []
  }
  const keys = Array.isArray(value?.keys) ? (value.keys as readonly (MaybeKey | null)[]) : [value]
  return keys.map((key) => {
    const { kty, crv, x, role = wanted } = key ?? {}
    const isKey = kty === 'OKP' && crv === 'Ed25519' && role === wanted
    return isKey && typeof x === 'string' && isKeyText(x) ? x : undefined
  })
}
