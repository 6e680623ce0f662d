import { secretMark } from '../../contracts/definitions/secret-mark.ts'
import { openMembersOfSecretParts } from './source-kinds.ts'

type Json = Readonly<Record<string, unknown>>

/** Secrets by their place in a source, such as `credentials.password`. */
export type SourceSecrets = Readonly<Record<string, string>>

const openKeys = openMembersOfSecretParts()

/**
 * A source with marks in place of its secrets (decisions.md#secrets-of-a-definition): whoever set
 * them knows them.
 */
export function withoutSecrets(source: Json): Json {
  return mapped(source, () => secretMark)
}

/** The secrets that stand in a source; a mark is none. */
export function secretsOf(source: Json): SourceSecrets {
  const secrets: Record<string, string> = {}
  mapped(source, (place, value) => {
    if (typeof value === 'string' && value !== secretMark) secrets[place] = value
    return value
  })
  return secrets
}

/** Places that have a mark, which stands for a secret that is kept. */
export function markedPlaces(source: Json): readonly string[] {
  const places: string[] = []
  mapped(source, (place, value) => {
    if (value === secretMark) places.push(place)
    return value
  })
  return places
}

/** A source with its secrets where the marks were. */
export function withSecrets(source: Json, secrets: SourceSecrets): Json {
  return mapped(source, (place, value) => (value === secretMark ? secrets[place] : value))
}

/** A source with other values in the places of secrets. */
function mapped(source: Json, change: (place: string, value: unknown) => unknown): Json {
  const members = Object.entries(source).map(([key, value]) => [
    key,
    Object.hasOwn(openKeys, key) ? mappedPart(key, value, change) : value,
  ])
  return Object.fromEntries(members) as Json
}

function mappedPart(
  part: string,
  value: unknown,
  change: (place: string, value: unknown) => unknown,
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return change(part, value)
  const members = Object.entries(value).map(([key, member]) => [
    key,
    openKeys[part]?.includes(key) && typeof member === 'string'
      ? member
      : change(`${part}.${key}`, member),
  ])
  return Object.fromEntries(members)
}
