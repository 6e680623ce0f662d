import { sql } from 'kysely'
import type { AnchoredType } from '../../anchors/intents/anchor.ts'
import type {
  AnchoredKind,
  AnchorFacts,
  ResourceMove,
} from '../../anchors/intents/anchored-kind.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type AnchoredRow, movedRow, type ToldWord } from './moved-row.ts'

export interface KindNeeds {
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
}

/** What the rows of all of them have. */
interface StoredRow extends AnchoredRow {
  readonly id: string
}

/** A resource as it is after a move that somebody is told of. */
export interface ToldRow<Row> {
  readonly row: Row
  readonly word: ToldWord
  readonly isQuiet: boolean
}

/** Where one type of resources differs from the others. */
export interface ResourceTraits<Row extends StoredRow> {
  readonly type: AnchoredType
  readonly table: 'asset_streams' | 'attachments' | 'signatures' | 'vaults'
  /** Columns that say what the ledger has made of it, beside its transaction. */
  readonly columnsOf: (facts: AnchorFacts) => Partial<Row>
  readonly eventsOf: (
    transaction: StateDatabase,
    told: readonly ToldRow<Row>[],
  ) => Promise<readonly LifecycleEvent[]>
}

/** Resources that are read at once: one may have a payload of a hundred kilobytes. */
const portion = 100

/** What there is one of for each resource; others, such as later images, are not seen of it. */
const creation = 'creation'

export function resourceKind<Row extends StoredRow>(
  traits: ResourceTraits<Row>,
  needs: KindNeeds,
): AnchoredKind {
  return {
    type: traits.type,
    async move(transaction, moves) {
      const shown = moves.filter(({ operation }) => operation === creation)
      for (let from = 0; from < shown.length; from += portion) {
        await movePortion({ traits, needs, transaction }, shown.slice(from, from + portion))
      }
      return false
    },
  }
}

interface Moving<Row extends StoredRow> {
  readonly traits: ResourceTraits<Row>
  readonly needs: KindNeeds
  readonly transaction: StateDatabase
}

async function movePortion<Row extends StoredRow>(
  { traits, needs, transaction }: Moving<Row>,
  moves: readonly ResourceMove[],
): Promise<void> {
  const rows = await rowsOf(transaction, traits.table, moves)
  const changed = new Set<string>()
  const told: ToldRow<Row>[] = []
  for (const move of moves) {
    const before = rows.get(move.resourceId)
    const moved = before && movedRow(before, move)
    if (!moved) continue
    const facts = moved.isSubmitted ? known(traits.columnsOf(move.facts)) : {}
    const row = { ...before, ...facts, ...moved.row } as Row
    rows.set(row.id, row)
    changed.add(row.id)
    if (moved.told) told.push({ row, word: moved.told, isQuiet: move.isQuiet })
  }
  if (changed.size === 0) return
  const columns = Object.keys(traits.columnsOf(noFacts))
  const values = [...rows.values()].filter(({ id }) => changed.has(id))
  await writeRows(transaction, traits.table, { columns, values })
  if (told.length === 0) return
  for (const event of await traits.eventsOf(transaction, told)) {
    for (const change of needs.lifecycle.record(event)) {
      await transaction.executeQuery(change.compile())
    }
  }
}

const noFacts: AnchorFacts = {
  txHash: '',
  account: '',
  distributionWallet: '',
  mapping: '',
  tokenId: '',
}

/** What is not known yet, or not told again, stays what it is. */
function known<Values extends object>(values: Values): Partial<Values> {
  const entries = Object.entries(values).filter(([, value]) => value !== '')
  return Object.fromEntries(entries) as Partial<Values>
}

async function rowsOf<Row extends StoredRow>(
  transaction: StateDatabase,
  table: string,
  moves: readonly ResourceMove[],
): Promise<Map<string, Row>> {
  const ids = JSON.stringify(moves.map(({ resourceId }) => resourceId))
  const { rows } = await sql<Row>`SELECT * FROM ${sql.table(table)}
    WHERE id IN (SELECT value FROM json_each(${ids}))`.execute(transaction)
  return new Map(rows.map((row) => [row.id, row]))
}

const columnsOfAll = ['status', 'tx_hash', 'progress', 'failure'] as const

/** Writes all of them with one statement. */
async function writeRows<Row extends StoredRow>(
  transaction: StateDatabase,
  table: string,
  { columns, values }: { readonly columns: readonly string[]; readonly values: Row[] },
): Promise<void> {
  const written = [...columnsOfAll, ...columns]
  const valueOf = (row: Row, column: string) =>
    (row as unknown as Readonly<Record<string, unknown>>)[column]
  const rows = values.map((row) => [row.id, ...written.map((column) => valueOf(row, column))])
  const assignments = written.map(
    (column, at) => sql`${sql.ref(column)} = moved.value ->> ${sql.lit(at + 1)}`,
  )
  await sql`UPDATE ${sql.table(table)} SET ${sql.join(assignments)}
    FROM json_each(${JSON.stringify(rows)}) AS moved WHERE ${sql.ref(`${table}.id`)} = moved.value ->> 0`.execute(
    transaction,
  )
}
