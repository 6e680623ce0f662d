import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

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

/** What a query for one text a row finds in the state as it is on the disk now. */
export function textsIn(dataDir: string, query: string): readonly string[] {
  // No copy: of a file that is being written that would be no state that there ever was.
  using database = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true, timeout: 5_000 })
  const rows = database.prepare(`SELECT text FROM (SELECT ${query})`).all()
  return rows.map(({ text }) => String(text))
}

/**
 * What is wrong with the anchors of a service at rest: each has one transaction, each resource one event of its
 * creation and one of its end, and no progress has a gap. Attachments whose file never came wait for it.
 */
export function wrongAnchors(dataDir: string): readonly string[] {
  const { sequences, intents } = chainOf(dataDir)
  const ids = textsIn(dataDir, 'id AS text FROM anchors')
  return [
    ...sequences.filter((sequence, at) => sequence !== at + 1).map((one) => `sequence ${one}`),
    ...textsIn(dataDir, "id || ' is ' || state AS text FROM anchors WHERE state <> 'completed'"),
    ...ids.filter((id) => intents.get(id) !== 1).map((id) => `${id} is not on the ledger once`),
    ...anchoredTables.flatMap((one) => [...wrongSteps(dataDir, one), ...wrongEvents(dataDir, one)]),
  ]
}

function wrongSteps(dataDir: string, { table, steps }: AnchoredTable): readonly string[] {
  return textsIn(
    dataDir,
    `'${table} ' || id || ' has ' || steps AS text FROM (
      SELECT r.id, (SELECT group_concat(value ->> 0) FROM json_each(progress)) AS steps
      FROM ${table} r WHERE r.status <> 'UPLOAD_PENDING')
    WHERE steps <> '${steps.join()}'`,
  )
}

function wrongEvents(
  dataDir: string,
  { table, prefix, done = 'completed' }: AnchoredTable,
): readonly string[] {
  return ['created', done].flatMap((word) =>
    textsIn(
      dataDir,
      `'${prefix}.${word} of ' || id || ': ' || times AS text FROM (
        SELECT r.id, (SELECT count(*) FROM events
          WHERE resource_id = r.id AND type = '${prefix}.${word}') AS times
        FROM ${table} r WHERE r.status <> 'UPLOAD_PENDING')
      WHERE times <> 1`,
    ),
  )
}

interface AnchoredTable {
  readonly table: string
  readonly prefix: string
  /** The word for its completion, where it is another one. */
  readonly done?: string
  readonly steps: readonly string[]
}

const end = ['METADATA_STORED', 'LEDGER_SUBMITTED', 'COMPLETED']

const anchoredTables: readonly AnchoredTable[] = [
  { table: 'vaults', prefix: 'vault', steps: ['SERVICE_RECEIVED', ...end] },
  { table: 'asset_streams', prefix: 'stream', steps: ['SERVICE_RECEIVED', ...end] },
  {
    table: 'attachments',
    prefix: 'data_attachment',
    steps: ['SERVICE_RECEIVED', 'UPLOAD_PENDING', ...end],
  },
  { table: 'signatures', prefix: 'signature', steps: ['SERVICE_RECEIVED', ...end] },
  { table: 'assets', prefix: 'asset', done: 'deployed', steps: ['SERVICE_RECEIVED', ...end] },
]
