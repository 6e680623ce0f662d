import {
  type OrderedPage,
  type OrderedPoint,
  type Outline,
  orderOf,
  RawPage,
} from '../../raw-page.ts'
import type { ReadingsQuery } from '../../readings-query.ts'
import { pointOf, readingSize, selectedReading, storedDigestOf } from './field-values.ts'
import type { ReadSession, ReadTable } from './session.ts'
import {
  digestAbove,
  digestOrder,
  microseconds,
  ofStreams,
  readingsBefore,
  readingsFrom,
  readingsUpTo,
  within,
} from './statement.ts'

/**
 * One page of a stream's readings as they are, in the order of (time, digest), or in that from behind.
 *
 * It is read twice: first the order and the sizes, which tell where the page ends, and then the readings
 * up to there; otherwise ten thousand readings with megabytes each would be in memory before anybody
 * could know. QuestDB goes through a table in the order of time, and ends where it has enough.
 */
export async function readRaw(session: ReadSession, query: ReadingsQuery): Promise<OrderedPage> {
  const page = new RawPage(query)
  const { fields, streamId } = query
  const tables = session.tablesOf(streamId).map(({ name, columns }): ReadTable => {
    const isAsked = ({ name: field }: { readonly name: string }) => fields.includes(field)
    return { name, columns: fields.length === 0 ? columns : columns.filter(isAsked) }
  })
  const condition = conditionOf(session, query)
  const order = orderOf(query)
  const found: Outline[] = []
  for (const table of tables) {
    found.push(...(await outlineOf(session, table, { condition, query, rows: page.rowsWanted })))
  }
  found.sort(order)
  const last = found[page.roomFor(found) - 1]
  if (!last) return page.close()
  const points: OrderedPoint[] = []
  for (const table of tables) {
    points.push(...(await pointsUpTo(session, table, { condition, last, query })))
  }
  page.add(points.sort(order))
  if (points.length < found.length) page.end()
  return page.close()
}

interface Asked {
  readonly condition: string
  readonly query: ReadingsQuery
}

/** Order and sizes of the first readings. */
async function outlineOf(
  session: ReadSession,
  { name, columns }: ReadTable,
  { condition, query, rows }: Asked & { readonly rows: number },
): Promise<Outline[]> {
  const direction = query.order === 'desc' ? 'DESC' : 'ASC'
  const found = await session.rows(
    `SELECT ${microseconds('"timestamp"')}, "$digest", ${readingSize(columns)} FROM ${name}
     WHERE ${condition} ORDER BY "timestamp" ${direction}, ${digestOrder(direction)} LIMIT ${rows}`,
  )
  return found.map(([time, digest, bytes]) => ({
    timestampUs: Number(time),
    digest: storedDigestOf(digest),
    bytes: Number(bytes),
  }))
}

/** The readings up to the last one that fits in. */
async function pointsUpTo(
  session: ReadSession,
  { name, columns }: ReadTable,
  { condition, last, query }: Asked & { readonly last: Outline },
): Promise<OrderedPoint[]> {
  const upToLast = query.order === 'desc' ? readingsFrom(last) : readingsUpTo(last)
  const rows = await session.rows(
    `SELECT ${selectedReading(columns)} FROM ${name} WHERE ${condition} AND ${upToLast}`,
  )
  return rows.map((row) => pointOf(row, columns, query.fields.length === 0))
}

function conditionOf(
  session: ReadSession,
  { streamId, startUs, endUs, order, after }: ReadingsQuery,
): string {
  if (order === 'desc' && after !== undefined && after.timestampUs < endUs) {
    const range = within({ fromUs: startUs, toUs: endUs })
    return [ofStreams([streamId]), range, readingsBefore(after), session.visible].join(' AND ')
  }
  const hasCursor = order !== 'desc' && after !== undefined && after.timestampUs >= startUs
  const fromUs = hasCursor ? after.timestampUs : startUs
  const conditions = [
    ofStreams([streamId]),
    within({ fromUs, toUs: endUs }),
    ...(hasCursor ? [`("timestamp" > ${fromUs} OR ${digestAbove(after.digest)})`] : []),
    session.visible,
  ]
  return conditions.join(' AND ')
}
