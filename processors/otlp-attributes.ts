import { cutText } from '../src/core/cut-text.ts'
import { problem } from './decode-binary.ts'
import { defineMember, type Members } from './protobuf-message.ts'

/** Attributes of one point, scope or resource: the SDKs of OpenTelemetry send 128 at most, unless they are set otherwise. */
const attributesMax = 1_000

export type Attribute = readonly [name: string, value: unknown]

/**
 * The attributes of a point, a scope or a resource, which may be absent.
 *
 * @throws UnreadableItem for too many of them, and for one that comes twice
 */
export function attributesOf(holder: unknown): readonly Attribute[] {
  const { attributes = [] } = (holder ?? {}) as Members
  const list = attributes as readonly Members[]
  if (list.length > attributesMax) throw problem(`there are more than ${attributesMax} attributes`)
  const names = new Set<unknown>()
  return list.flatMap(({ key = '', value }): readonly Attribute[] => {
    if (names.has(key)) throw problem(`the attribute ${cutText(String(key), 100)} comes twice`)
    names.add(key)
    const read = valueOf(value)
    // A value of no kind is an attribute that was not set.
    return read === null ? [] : [[String(key), read]]
  })
}

/** A value, which may hold others: null where it is empty. */
function valueOf(any: unknown): unknown {
  const given = (any ?? {}) as Members
  const { arrayValue, kvlistValue } = given
  if (arrayValue !== undefined) return valuesIn(arrayValue).map(valueOf)
  if (kvlistValue !== undefined) return objectOf(valuesIn(kvlistValue))
  const [value = null] = Object.values(given)
  return value
}

function valuesIn(list: unknown): readonly Members[] {
  const { values = [] } = list as Members
  return values as readonly Members[]
}

function objectOf(pairs: readonly Members[]): object {
  const members: Members = {}
  for (const { key = '', value } of pairs) {
    const name = String(key)
    if (Object.hasOwn(members, name)) throw problem(`the key ${cutText(name, 100)} comes twice`)
    defineMember(members, name, valueOf(value))
  }
  return members
}
