import type { StreamId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { AggregatedField } from '../../storage/time-series/aggregate-query.ts'
import { type ColumnType, columnTypeOf } from '../../storage/time-series/shape.ts'
import type { VersionedDefinition } from '../../streams/data-streams/definition.ts'
import { digestColumn, type TextColumns } from '../../streams/data-streams/readings-text.ts'
import { takesSeveralTopics } from '../../streams/data-streams/source-kinds.ts'
import { storedFieldsOf } from '../../streams/data-streams/transform-definition.ts'
import { windowKey } from '../queries/window-query.ts'
import type { ParquetColumn, ParquetType } from './parquet.ts'

/** Versions that are looked at, the newest ones: fields of older ones are written as texts. */
const versionsMax = 1_000

const parquetTypes: Readonly<Record<ColumnType, ParquetType>> = {
  double: 'DOUBLE',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  varchar: 'VARCHAR',
  timestamp: 'TIMESTAMPTZ',
  json: 'VARCHAR',
}

/** What the versions of a stream say about its stored readings. */
export interface StoredKinds {
  /** All types that readings can have been stored as, by field. */
  readonly types: ReadonlyMap<string, ReadonlySet<ColumnType>>
  /** Whether readings were told apart by who sent them: then their content does not say what they are known by. */
  readonly hadSeveralSenders: boolean
}

export async function storedKindsOf(
  state: StateDatabase,
  streamId: StreamId,
): Promise<StoredKinds> {
  const rows = await state
    .selectFrom('data_stream_versions')
    .select('definition')
    .where('stream_id', '=', streamId)
    .orderBy('version', 'desc')
    .limit(versionsMax)
    .execute()
  const types = new Map<string, Set<ColumnType>>()
  let hadSeveralSenders = false
  for (const { definition: text } of rows) {
    const definition = JSON.parse(text) as VersionedDefinition
    hadSeveralSenders ||= takesSeveralTopics(definition.source)
    const fields = storedFieldsOf(definition)
    for (const [name, { type }] of Object.entries(fields)) {
      types.set(name, (types.get(name) ?? new Set()).add(columnTypeOf(type)))
    }
  }
  return { types, hadSeveralSenders }
}

/** The columns of raw readings, in the order of `headOf`. */
export function rawColumns(
  { fields, withExtra, withDigest }: TextColumns,
  { types }: Pick<StoredKinds, 'types'>,
): readonly ParquetColumn[] {
  return distinct([
    ...ownColumns,
    ...fields.map((name) => ({ name, type: unitedType(types.get(name)) })),
    ...(withExtra ? [{ name: 'extra', type: 'VARCHAR' } as const] : []),
    { name: ':flag', type: 'VARCHAR' },
    ...(withDigest === true ? [{ name: digestColumn, type: 'VARCHAR' } as const] : []),
  ])
}

/** The columns of aggregated points. Whole numbers may have been fractions in an earlier version. */
export function pointColumns(fields: readonly AggregatedField[]): readonly ParquetColumn[] {
  return distinct([
    ...ownColumns,
    ...fields.map((field) => ({ name: field.key, type: pointType(field) })),
    { name: 'count', type: 'BIGINT' },
  ])
}

/** The columns of windows. What was computed of whole numbers may have been a fraction in some version. */
export function windowFileColumns(
  fields: readonly string[],
  types: ReadonlyMap<string, ReadonlySet<ColumnType>>,
): readonly ParquetColumn[] {
  return distinct([
    ...ownColumns,
    ...fields.map((name) => {
      const type = unitedType(types.get(name))
      return { name: windowKey(name), type: type === 'BIGINT' ? 'DOUBLE' : type }
    }),
    { name: 'count', type: 'BIGINT' },
    { name: 'revision', type: 'BIGINT' },
    { name: 'computedAt', type: 'TIMESTAMPTZ' },
  ])
}

const ownColumns: readonly ParquetColumn[] = [
  { name: 'streamId', type: 'VARCHAR' },
  { name: 'timestamp', type: 'TIMESTAMPTZ' },
]

function pointType({ function: name, type }: AggregatedField): ParquetType {
  if (name === 'count') return 'BIGINT'
  return type === 'bigint' ? 'DOUBLE' : parquetTypes[type]
}

/** What is of several types is written as it would be in CSV; numbers of either kind are doubles. */
function unitedType(types: ReadonlySet<ColumnType> = new Set()): ParquetType {
  const [first, second, ...others] = types
  if (first === undefined || others.length > 0) return 'VARCHAR'
  if (second === undefined) return parquetTypes[first]
  const isNumeric = types.has('double') && types.has('bigint')
  return isNumeric ? 'DOUBLE' : 'VARCHAR'
}

/**
 * Readers of Parquet may not tell upper from lower case, and a field can have had both, in different
 * versions: the later one gets a number.
 */
function distinct(columns: readonly ParquetColumn[]): readonly ParquetColumn[] {
  const taken = new Set<string>()
  return columns.map(({ name, type }) => {
    let free = name
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name}:${number}`
    taken.add(free.toLowerCase())
    return { name: free, type }
  })
}
