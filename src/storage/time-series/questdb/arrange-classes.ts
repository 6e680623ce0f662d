import type { Offset } from '../../journal/journal.ts'
import type { Durability } from './durability.ts'
import { literal, quoted, tableOf } from './layout.ts'
import type { Ledger } from './ledger.ts'
import { removedWithStream } from './removal.ts'
import type { WritePlace } from './write-place.ts'
import type { WriterTurns } from './writer-turns.ts'

export interface ArrangeNeeds {
  readonly ledger: Ledger
  readonly turns: WriterTurns
  readonly durability: Durability
}

/**
 * From the next entry on, puts readings of streams that keep them for about the same time into tables of
 * their own. What is stored already stays where it is.
 */
export async function arrangeClasses(
  { ledger, turns, durability }: ArrangeNeeds,
  kept: ReadonlyMap<string, number>,
): Promise<void> {
  const { classes } = ledger
  if (classes.changesFor(kept, ledger.position).length === 0) return
  await turns.take(async (place) => {
    const { position } = ledger
    const statements = await markUnstored(place, position)
    ledger.commit({
      position,
      streams: [],
      newShapes: [],
      classes: classes.changesFor(kept, position),
      unproven: durability.noted({ statements }),
    })
  })
}

/**
 * Rows of a shipment that did not come to its end are sent again, and get into other tables now. The first ones
 * would be taken for stored then.
 */
async function markUnstored(
  { connection, unapplied }: WritePlace,
  position: Offset,
): Promise<readonly string[]> {
  await unapplied.applied(connection)
  const { rows: tables } = await connection.run(
    `SELECT table_name FROM tables()
     WHERE starts_with(table_name, ${literal(tableOf(connection.server.prefix, ''))})`,
  )
  const statements: string[] = []
  for (const [table] of tables) {
    const isUnstored = `"$offset" >= ${position} AND "$removedBy" = null`
    const { rows } = await connection.run(
      `SELECT "$offset" FROM ${quoted(String(table))} WHERE ${isUnstored} LIMIT 1`,
    )
    if (rows.length === 0) continue
    const statement = `UPDATE ${quoted(String(table))} SET "$removedBy" = ${removedWithStream} WHERE ${isUnstored}`
    unapplied.addUnknown()
    await connection.run(statement)
    statements.push(statement)
  }
  return statements
}
