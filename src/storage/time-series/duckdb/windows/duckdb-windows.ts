import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../../core/clock.ts'
import type { Expiry } from '../../expiry.ts'
import type {
  ComputedPiece,
  StoredWindows,
  StoredWindowsQuery,
  WindowPiece,
  WindowStore,
  WindowsWritten,
  WindowTotals,
} from '../../windows/window-store.ts'
import type { Catalog } from '../catalog.ts'
import { expireResults } from './expire-results.ts'
import { readWindows } from './read-windows.ts'
import { writeWindows } from './write-windows.ts'

export interface DuckDbWindowsNeeds {
  readonly clock: Clock
  /** It is read from the file anew after a failure. */
  readonly catalog: () => Catalog
  readonly read: <Result>(
    work: (connection: DuckDBConnection) => Promise<Result>,
  ) => Promise<Result>
  /** Lets nobody else write meanwhile, and mistrusts memory and file when it fails. */
  readonly write: <Result>(work: (writer: DuckDBConnection) => Promise<Result>) => Promise<Result>
}

/** Windows in the file of the readings. */
export class DuckDbWindows implements WindowStore {
  readonly #needs: DuckDbWindowsNeeds

  constructor(needs: DuckDbWindowsNeeds) {
    this.#needs = needs
  }

  due(...asked: Parameters<WindowStore['due']>): readonly WindowPiece[] {
    const catalog = this.#needs.catalog()
    return catalog.windows.due(catalog.keptFromUs, ...asked)
  }

  async write(computed: readonly ComputedPiece[]): Promise<WindowsWritten> {
    const { write, catalog, clock } = this.#needs
    return await write((writer) =>
      writeWindows({ writer, catalog: catalog(), nowUs: clock.nowUs() }, computed),
    )
  }

  async stored(query: StoredWindowsQuery): Promise<StoredWindows> {
    const { read, catalog } = this.#needs
    return await read(async (connection) => {
      const marked = catalog().windows.marked(catalog().keptFromUs, query)
      return { marked, windows: await readWindows(connection, catalog(), query) }
    })
  }

  async expire(expiries: readonly Expiry[]): Promise<boolean> {
    const { write, catalog } = this.#needs
    return await write((writer) => expireResults(writer, catalog(), expiries))
  }

  totals(): WindowTotals {
    return this.#needs.catalog().windows.totals()
  }
}
