import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TemporaryFolder } from './temporary-folder.ts'

interface Row {
  readonly [column: string]: unknown
}

/** What the chain of a data folder has, read without the service. */
export interface ChainFacts {
  readonly sequences: readonly number[]
  /** Intents of transactions, and of leaves, with how often each is there. */
  readonly intents: ReadonlyMap<string, number>
}

export function chainOf(dataDir: string): ChainFacts {
  const path = join(dataDir, 'ledger', 'chain.jsonl')
  const sequences: number[] = []
  const intents = new Map<string, number>()
  const count = (id: string) => intents.set(id, (intents.get(id) ?? 0) + 1)
  if (!existsSync(path)) return { sequences, intents }
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  for (const line of whole) {
    const { transactions } = JSON.parse(line) as {
      readonly transactions: readonly { readonly text: string; readonly annex: string }[]
    }
    for (const { text, annex } of transactions) {
      const said = JSON.parse(text) as { readonly sequence: number; readonly intent: string }
      sequences.push(said.sequence)
      const ids = new Set([said.intent])
      for (const [intentId] of JSON.parse(annex) as readonly (readonly [string, string])[]) {
        ids.add(intentId)
      }
      for (const id of ids) count(id)
    }
  }
  return { sequences, intents }
}

/** What a query finds in the state as it is on the disk now. */
export function rowsOf(dataDir: string, query: string): readonly Row[] {
  using folder = new TemporaryFolder()
  for (const name of ['state.db', 'state.db-wal']) {
    if (existsSync(join(dataDir, name))) cpSync(join(dataDir, name), folder.file(name))
  }
  using database = new DatabaseSync(folder.file('state.db'))
  return database.prepare(query).all() as readonly Row[]
}

/**
 * What is wrong with the anchors of a service at rest: each has one transaction, each resource one event of its
 * creation and one of its end, and no progress has a gap. Attachments whose file never came wait for it.
 */
export function wrongAnchors(dataDir: string): readonly string[] {
  const { sequences, intents } = chainOf(dataDir)
  const wrong: string[] = []
  sequences.forEach((sequence, at) => {
    if (sequence !== at + 1) wrong.push(`sequence ${sequence} is at ${at + 1}`)
  })
  for (const row of rowsOf(dataDir, 'SELECT id, state FROM anchors')) {
    const times = intents.get(String(row['id'])) ?? 0
    if (row['state'] !== 'completed') wrong.push(`anchor ${row['id']} is ${row['state']}`)
    if (times !== 1) wrong.push(`anchor ${row['id']} is on the ledger ${times} times`)
  }
  for (const { table, prefix, steps } of anchoredTables) {
    const shown = `FROM ${table} r WHERE r.status <> 'UPLOAD_PENDING'`
    for (const { id, progress } of rowsOf(dataDir, `SELECT id, progress ${shown}`)) {
      const statuses = (JSON.parse(String(progress)) as readonly [string, number][]).map(
        ([status]) => status,
      )
      if (statuses.join() !== steps.join()) wrong.push(`${table} ${id} has ${statuses.join()}`)
    }
    const events = rowsOf(
      dataDir,
      `SELECT r.id, wanted.column1 AS type, count(e.id) AS times
        FROM (SELECT r.id ${shown}) r
        CROSS JOIN (VALUES ('${prefix}.created'), ('${prefix}.completed')) AS wanted
        LEFT JOIN events e ON e.resource_id = r.id AND e.type = wanted.column1
        GROUP BY r.id, wanted.column1 HAVING count(e.id) <> 1`,
    )
    for (const { id, type, times } of events) wrong.push(`${table} ${id}: ${type} ${times} times`)
  }
  return wrong
}

const end = ['METADATA_STORED', 'LEDGER_SUBMITTED', 'COMPLETED']

const anchoredTables = [
  { table: 'vaults', prefix: 'vault', steps: ['SERVICE_RECEIVED', ...end] },
  { table: 'asset_streams', prefix: 'stream', steps: ['SERVICE_RECEIVED', ...end] },
  {
    table: 'attachments',
    prefix: 'data_attachment',
    steps: ['SERVICE_RECEIVED', 'UPLOAD_PENDING', ...end],
  },
] as const
