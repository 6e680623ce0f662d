import { sourceKinds } from '../connectors/sources.ts'
import type { SourceKind } from '../src/contracts/definitions/source-kind.ts'
import { ownAndSharedFields } from '../src/streams/data-streams/source.ts'
import type { KeyTables } from './key-tables.ts'

/** The tables of all kinds of sources: of each kind its keys, and of each list of it the keys of an element. */
export const sourceKeyTables: KeyTables = Object.fromEntries(sourceKinds.flatMap(tablesOf))

function tablesOf(kind: SourceKind): readonly (readonly [string, KeyTables[string]])[] {
  const inner = Object.entries(kind.fields).flatMap(([key, { members }]) =>
    members === undefined ? [] : [[`${kind.name}.${key}`, members] as const],
  )
  return [[kind.name, ownAndSharedFields(kind)], ...inner]
}
