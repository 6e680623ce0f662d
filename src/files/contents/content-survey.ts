import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { FilesAddress } from '../../config/files.ts'
import { systemClock } from '../../core/clock.ts'
import type { FileStore } from '../store/file-store.ts'
import { openFileStore } from '../store/open-file-store.ts'

/** Lost contents that are named; the others are only counted. */
const namedMax = 20

/** A content that the state knows, and what the store has of it. */
export interface LostContent {
  readonly cid: string
  /** Bytes, as the state knows it. */
  readonly size: number
  /** Bytes in the store; undefined: it has none. */
  readonly found: number | undefined
}

/** How the contents in a store compare with those that the state knows. */
export interface ContentSurvey {
  /** Contents that the state knows. */
  readonly known: number
  readonly knownBytes: number
  /** The first of those, by their CIDs, that the store has not, or with another size. */
  readonly lost: readonly LostContent[]
  readonly lostCount: number
  /** Contents that only the store has: of uploads under way, or left by those that were cut off. */
  readonly unknown: number
  readonly unknownBytes: number
}

/** Where contents are: as the settings say, and within a data folder. */
export interface ContentPlace {
  readonly address: FilesAddress
  /** A folder that is not there has no contents, and is not made. */
  readonly folder: string
}

/** Compares what there is with a state (see `surveyContents`). Writes nothing there. */
export async function surveyPlace(
  statePath: string,
  { address, folder }: ContentPlace,
): Promise<ContentSurvey> {
  if (address.kind === 'folder' && !existsSync(folder)) {
    return await surveyContents(statePath, { async *contents() {} })
  }
  const reading = { clock: systemClock, spareBytes: 0, clearsLeftovers: false }
  const store = await openFileStore({ address, folder, ...reading })
  try {
    return await surveyContents(statePath, store)
  } finally {
    await store.close()
  }
}

/**
 * Compares a store with a state, of which only the sizes of contents are looked at. A running
 * service may go on taking and removing them: what the state has known all the time has been in the
 * store all the time.
 *
 * @param statePath a state of before there were contents knows none
 */
export async function surveyContents(
  statePath: string,
  store: Pick<FileStore, 'contents'>,
): Promise<ContentSurvey> {
  using survey = new Survey(statePath)
  survey.noteKnown()
  for await (const { cid, bytes } of store.contents()) survey.notePresent(cid, bytes)
  return survey.result()
}

/** Tables of its own lie in a temporary file, however many contents there are. */
class Survey implements Disposable {
  readonly #state: DatabaseSync
  readonly #hasContents: boolean
  readonly #note: StatementSync

  constructor(statePath: string) {
    this.#state = new DatabaseSync(statePath, { readOnly: true })
    this.#hasContents = this.#row(contentsTable) !== undefined
    this.#state.exec(ownTables)
    this.#note = this.#state.prepare('INSERT OR REPLACE INTO temp.present VALUES (?, ?)')
  }

  noteKnown(): void {
    if (!this.#hasContents) return
    this.#state.exec('INSERT INTO temp.known SELECT cid, created_at FROM main.contents')
  }

  notePresent(cid: string, bytes: number): void {
    this.#note.run(cid, bytes)
  }

  result(): ContentSurvey {
    this.#state.exec('BEGIN')
    const known = this.#hasContents ? this.#row(sumOf('main.contents', 'size')) : undefined
    const lost = this.#hasContents ? this.#state.prepare(lostContents).all(namedMax) : []
    const unknown = this.#row(
      sumOf('temp.present', 'bytes') +
        (this.#hasContents ? ' WHERE cid NOT IN (SELECT cid FROM main.contents)' : ''),
    )
    return {
      known: Number(known?.['count'] ?? 0),
      knownBytes: Number(known?.['bytes'] ?? 0),
      lost: lost.map(({ cid, size, found }) => ({
        cid: String(cid),
        size: Number(size),
        found: found === null ? undefined : Number(found),
      })),
      lostCount: Number(lost[0]?.['count'] ?? 0),
      unknown: Number(unknown?.['count'] ?? 0),
      unknownBytes: Number(unknown?.['bytes'] ?? 0),
    }
  }

  [Symbol.dispose](): void {
    this.#state.close()
  }

  #row(query: string) {
    return this.#state.prepare(query).get()
  }
}

const contentsTable = `SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'contents'`

const ownTables = `CREATE TEMP TABLE known (cid TEXT PRIMARY KEY, created_at) WITHOUT ROWID;
  CREATE TEMP TABLE present (cid TEXT PRIMARY KEY, bytes) WITHOUT ROWID;`

/** One that was forgotten and taken anew meanwhile is known since another time. */
const lostContents = `SELECT cid, size, found, count(*) OVER () AS count FROM (
    SELECT c.cid, c.size, p.bytes AS found
    FROM main.contents c
    JOIN temp.known k ON k.cid = c.cid AND k.created_at = c.created_at
    LEFT JOIN temp.present p ON p.cid = c.cid
    WHERE p.bytes IS NOT c.size
  ) ORDER BY cid LIMIT ?`

function sumOf(table: string, column: string): string {
  return `SELECT count(*) AS count, coalesce(sum(${column}), 0) AS bytes FROM ${table}`
}
