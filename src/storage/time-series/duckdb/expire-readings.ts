import { setTimeout as sleep } from 'node:timers/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import { monotonicMs } from '../../../core/clock.ts'
import type { Expiry } from '../expiry.ts'
import type { Catalog, ReadingsTable } from './catalog.ts'
import type { Contents } from './contents.ts'
import {
  dropTable,
  type Expiring,
  endsPerPortion,
  expirePortion,
  expiringStreams,
  expiringTables,
  noteEnds,
  noteKeptFrom,
  outlineOf,
} from './expiry.ts'
import type { StoreTurns } from './store-turns.ts'

/** A portion is followed by a rest that is so many times as long: shipments have more of the time. */
const restsPerWork = 2

/** Removes what is too old of streams, table by table, in portions with rests. */
export async function expireReadings(
  { turns, contentsOf }: { readonly turns: StoreTurns; readonly contentsOf: () => Contents },
  expiries: readonly Expiry[],
  signal: AbortSignal,
): Promise<void> {
  const pass = await turns.write(async (writer) => {
    const contents = contentsOf()
    const expiring = expiringStreams(contents.catalog, expiries)
    if (expiring.length > 0) await noteKeptFrom(writer, contents.catalog, expiring)
    return new ExpiryPass({ turns, contents, expiring })
  })
  await pass.run(signal)
}

interface ExpiryPassNeeds {
  readonly turns: StoreTurns
  readonly contents: Contents
  readonly expiring: readonly Expiring[]
}

class ExpiryPass {
  readonly #needs: ExpiryPassNeeds

  constructor(needs: ExpiryPassNeeds) {
    this.#needs = needs
  }

  get #catalog(): Catalog {
    return this.#needs.contents.catalog
  }

  async run(signal: AbortSignal): Promise<void> {
    const { contents, expiring } = this.#needs
    for (const table of expiringTables(this.#catalog, expiring)) {
      if (!(await this.#expireTable(table, signal))) return
    }
    for (let at = 0; at < expiring.length; at += endsPerPortion) {
      const portion = expiring.slice(at, at + endsPerPortion)
      await this.#write((writer) => noteEnds(writer, contents, portion), signal)
      if (signal.aborted) return
    }
  }

  /** False when it was ended before it was done. */
  async #expireTable(table: ReadingsTable, signal: AbortSignal): Promise<boolean> {
    const expiring = this.#needs.expiring.filter(({ record }) => record.shapes.has(table.shape))
    const outline = await this.#needs.turns.look((reader) => outlineOf(reader, table, expiring))
    if (signal.aborted) return false
    if (!outline.hasOthers) {
      const drop = { table, outline, expiring }
      const isDropped = await this.#write(
        (writer) => dropTable(writer, this.#catalog, drop),
        signal,
      )
      if (isDropped) return true
    } else if (!outline.hasExpired) return true
    const portion = { table, expiring }
    const expireSome = (writer: DuckDBConnection) => expirePortion(writer, this.#catalog, portion)
    while (await this.#write(expireSome, signal)) if (signal.aborted) return false
    return true
  }

  /** @throws Error when the file was opened anew meanwhile: what is known of it is outdated then */
  async #write<Result>(
    work: (writer: DuckDBConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    let workedMs = 0
    const result = await this.#needs.turns.write(async (writer, catalog) => {
      if (catalog !== this.#catalog) throw new Error('the time-series file was opened again')
      const startedMs = monotonicMs()
      const done = await work(writer)
      workedMs = monotonicMs() - startedMs
      return done
    })
    await sleep(workedMs * restsPerWork, undefined, { signal }).catch(() => undefined)
    return result
  }
}
