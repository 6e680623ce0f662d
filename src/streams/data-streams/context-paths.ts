import { enclosingProblem } from '../../../processors/mapping/reserved.ts'
import { isCredential } from '../../contracts/context-texts.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { type Json, Problems } from '../../contracts/definitions/problems.ts'
import { type ContextRoot, type Path, parsePath } from '../../contracts/path.ts'
import type { FieldMap, StreamSchema } from '../../contracts/stream-schema.ts'
import { itemsOf } from './items.ts'
import { kindOf } from './source-kinds.ts'
import type { StreamType } from './stream-type.ts'

/** Paths to what is known of a message beside its bytes. */

/** A source, as far as it says what is known of its messages. */
export interface ToldBy {
  readonly type: StreamType
  readonly source: Json
}

/** Refuses fields whose paths lead to what no message of the source can have. */
export function checkContextPaths(
  { type, source }: { readonly type: StreamType | undefined; readonly source: Json },
  schema: FieldMap,
  problems: Problems,
): void {
  // What the service itself writes has no paths.
  if (type === undefined || type === 'service') return
  const { eventTypes } = source
  const maps = isObject(eventTypes)
    ? Object.entries(eventTypes).map(([name, fields]) => [`source.eventTypes.${name}`, fields])
    : [['schema', schema]]
  for (const [place, fields] of maps) {
    if (!isObject(fields)) continue
    for (const [name, field] of Object.entries(fields)) {
      if (!isObject(field)) continue
      checkPaths(field['from'], { type, source }, problems.within(`${String(place)}.${name}`))
    }
  }
}

function checkPaths(from: unknown, by: ToldBy, problems: Problems): void {
  const texts: readonly unknown[] = Array.isArray(from) ? from : [from]
  for (const [index, text] of texts.entries()) {
    const path = typeof text === 'string' ? parsePath(text) : undefined
    // What is no path at all has been said.
    if (path === undefined || 'problem' in path) continue
    const problem = contextProblem(path, by)
    if (problem !== undefined) problems.add(Array.isArray(from) ? `from.${index}` : 'from', problem)
  }
}

/** What is wrong with a path that no message of a source can have anything at; undefined for all others. */
export function contextProblem(path: Path, { type, source }: ToldBy): string | undefined {
  const { root, up } = path
  const levels = itemsOf(source)?.length ?? 0
  if (root === 'parent' && up > levels) {
    return levels === 0
      ? 'needs source.items: without it nothing encloses a reading'
      : `leads out of the message: source.items has ${levels} levels`
  }
  if (!isContextRoot(root)) return enclosingProblem(path, itemsOf(source) ?? [])
  const told = kindOf(type, source)?.tells ?? []
  if (!told.includes(root)) {
    const there = told.map((one) => `$${one}`).join(', ')
    const known = there === '' ? 'nothing but what is in it' : `${there} beside what is in it`
    return `messages of this source have no $${root}: of one is known ${known}`
  }
  const [name] = path.steps
  if (typeof name !== 'string') return undefined
  if (isCredential(name)) return `${name} may be a credential: it is left out of what can be read`
  return undefined
}

/** What the fields and the time of a schema read beside the message; undefined: nothing. */
export function contextReadBy({
  fields,
  time,
  timestampField,
  isCloudEvents,
}: StreamSchema): ReadonlySet<ContextRoot> | undefined {
  const read = new Set<ContextRoot>()
  const paths = Object.values(fields).flatMap(({ from = [] }) => from)
  if (time !== undefined) paths.push(timestampField, time.offset?.path ?? '$')
  for (const text of paths) {
    const path = parsePath(text)
    if (!('problem' in path) && isContextRoot(path.root)) read.add(path.root)
  }
  // In binary mode they say what an event is.
  if (isCloudEvents) read.add('header')
  return read.size === 0 ? undefined : read
}

function isContextRoot(root: Path['root']): root is ContextRoot {
  return root !== 'item' && root !== 'parent' && root !== 'message'
}
