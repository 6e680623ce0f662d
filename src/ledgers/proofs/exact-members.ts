import type { MerklePath } from '../merkle/merkle.ts'
import { isHash, isObject } from './transaction-text.ts'

/** What contradicts a proof, in words. It never leaves the check. */
export class Contradiction extends Error {
  override readonly name = 'Contradiction'
}

/** Hashes of a path: a tree with a leaf for every atom has no longer one. */
const hashesMax = 64

type Members = Readonly<Record<string, unknown>>

/**
 * Members of an object that is to have these, perhaps those, and no others: one that nobody knows is one that
 * somebody has changed.
 *
 * @throws Contradiction
 */
export function members(
  value: unknown,
  where: string,
  names: readonly string[],
  optional: readonly string[] = [],
): Members {
  if (!isObject(value)) throw new Contradiction(`${where} is not an object`)
  const missing = names.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) throw new Contradiction(`${where} has no ${missing}`)
  const unknown = Object.keys(value).find(
    (name) => !names.includes(name) && !optional.includes(name),
  )
  if (unknown !== undefined) throw new Contradiction(`${where} has something that is in no proof`)
  return value
}

/** @throws Contradiction */
export function text(value: unknown, where: string, charsMax: number): string {
  if (typeof value === 'string' && value.length <= charsMax) return value
  throw new Contradiction(`${where} is no text of ${charsMax} characters at most`)
}

/** @throws Contradiction */
export function hash(value: unknown, where: string): string {
  if (isHash(value)) return value
  throw new Contradiction(`${where} is not a SHA-256 in hex`)
}

/** @throws Contradiction */
export function oneOf(value: unknown, where: string, values: readonly string[]): string {
  if (typeof value === 'string' && values.includes(value)) return value
  throw new Contradiction(`${where} is not one of ${values.join(', ')}`)
}

/** @throws Contradiction */
export function list(value: unknown, where: string, itemsMax: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= itemsMax) return value
  throw new Contradiction(`${where} is no list of ${itemsMax} at most`)
}

/** @throws Contradiction */
export function merklePath(value: unknown, where: string): MerklePath {
  const { index, size, hashes } = members(value, where, ['index', 'size', 'hashes'])
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size)) {
    throw new Contradiction(`${where} says no place in a tree`)
  }
  const all = list(hashes, `${where}.hashes`, hashesMax)
  return {
    index: index as number,
    size: size as number,
    hashes: all.map((one, at) => hash(one, `${where}.hashes[${at}]`)),
  }
}

export function orNull<Value>(value: unknown, parse: (value: unknown) => Value): Value | null {
  return value === null ? null : parse(value)
}
