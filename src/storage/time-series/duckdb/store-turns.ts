import type { DuckDBConnection } from '@duckdb/node-api'
import type { Catalog } from './catalog.ts'

/** How work that is no shipment gets its turns between those of others. */
export interface StoreTurns {
  /** Writes while nobody else does. */
  readonly write: <Result>(
    work: (writer: DuckDBConnection, catalog: Catalog) => Promise<Result>,
  ) => Promise<Result>
  /** Reads beside all others. */
  readonly look: <Result>(work: (reader: DuckDBConnection) => Promise<Result>) => Promise<Result>
}

/** Reads beside all others; between two of its turns memory is given back. */
export type Look = <Result>(work: (reader: DuckDBConnection) => Promise<Result>) => Promise<Result>

export function lookInTurns({ look, write }: StoreTurns): Look {
  return async (work) => {
    const result = await look(work)
    // A turn of its own at the end of which memory is given back.
    await write(async () => undefined)
    return result
  }
}
