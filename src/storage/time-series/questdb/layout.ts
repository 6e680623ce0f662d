import type { Offset } from '../../journal/journal.ts'
import type { ColumnType, Shape } from '../shape.ts'

/**
 * How readings lie in QuestDB: one table for each shape, shared by all streams of it.
 *
 * | column | |
 * | --- | --- |
 * | `streamId`, `timestamp`, `$digest` | which reading it is; rows with the same three replace each other |
 * | `$receivedAt` | when it came |
 * | `$offset` | where its entry stands in the journal |
 * | `$removedBy` | where the entry stands that removed it; null while it lives, as QuestDB deletes no rows |
 * | `extra`, `$flagged` | canonical JSON, names of fields; null when there are none |
 *
 * Names of fields cannot collide with these (decisions.md#definitions). QuestDB takes names for
 * equal that differ in case only, as definitions do.
 */
const ownColumns: readonly (readonly [name: string, type: string])[] = [
  ['streamId', 'SYMBOL'],
  ['timestamp', 'TIMESTAMP'],
  ['$receivedAt', 'TIMESTAMP'],
  ['$digest', 'LONG'],
  ['$offset', 'LONG'],
  ['$removedBy', 'LONG'],
  ['extra', 'VARCHAR'],
  ['$flagged', 'VARCHAR'],
]

/** Rows with the same of these replace each other. */
export const upsertKeys = ['timestamp', 'streamId', '$digest'] as const

/** Streams that QuestDB expects in a table; it makes room for more by itself. */
const streamsExpected = 16_384

/** A boolean of QuestDB is never null, and 0 is the null of a BYTE. */
export const booleanBytes = { false: 1, true: 2 } as const

const sqlTypes: Readonly<Record<ColumnType, string>> = {
  double: 'DOUBLE',
  bigint: 'LONG',
  boolean: 'BYTE',
  varchar: 'VARCHAR',
  timestamp: 'TIMESTAMP',
  json: 'VARCHAR',
}

/** @param prefix keeps services apart that share a server; empty, or ends with an underscore */
export function tableOf(prefix: string, shape: string): string {
  return `${prefix}readings_${shape}`
}

/** Names and types of a table's columns, in their order. */
export function columnsOf({ columns }: Shape): (readonly [name: string, type: string])[] {
  return [...ownColumns, ...columns.map(({ name, type }) => [name, sqlTypes[type]] as const)]
}

/**
 * Gives a shape the name that it has in the tables of a class of readings that go at about the same
 * time.
 */
export function shapeOfClass({ id, columns }: Shape, name: string): Shape {
  return { id: `${id}_${name}`, columns }
}

/** By the end of a table's name, what its partitions are: they go one by one when what is in them has expired. */
const classPartitions: readonly (readonly [ending: RegExp, partition: Partition])[] = [
  [/_(12h|2d)$/, 'HOUR'],
  [/_(8d|32d|128d)$/, 'DAY'],
]

export type Partition = 'HOUR' | 'DAY' | 'MONTH'

/** @param shape its id */
export function partitionOf(shape: string): Partition {
  return classPartitions.find(([ending]) => ending.test(shape))?.[1] ?? 'MONTH'
}

/**
 * Partitions are months: a shipment may spread over decades, and each partition that it touches costs
 * QuestDB some milliseconds. Those of days took twenty times as long. Tables of classes have smaller ones: there, readings
 * are of about the time at which they come.
 */
export function createTable(table: string, shape: Shape): string {
  const columns = columnsOf(shape).map(([name, type]) =>
    type === 'SYMBOL'
      ? `${quoted(name)} SYMBOL CAPACITY ${streamsExpected} CACHE`
      : `${quoted(name)} ${type}`,
  )
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (${columns.join(', ')})
    TIMESTAMP("timestamp") PARTITION BY ${partitionOf(shape.id)} WAL
    DEDUP UPSERT KEYS(${upsertKeys.map(quoted).join(', ')})`
}

/**
 * What is stored and not removed at a position. Rows from it on are there when a shipment was sent and
 * its position is not on disk: they are not stored yet.
 */
export function isAliveAt(position: Offset): string {
  return `"$removedBy" = null AND "$offset" < ${position}`
}

/** 64 bits without a sign, as the signed number that QuestDB has. */
export function storedDigest(digest: bigint): bigint {
  return BigInt.asIntN(64, digest)
}

/** The digest of a row; the lowest number is QuestDB's null. */
export function digestOf(stored: string | number | bigint | null): bigint {
  return stored === null ? 1n << 63n : BigInt.asUintN(64, BigInt(stored))
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A text in SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
