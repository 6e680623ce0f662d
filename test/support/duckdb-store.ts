import { type Clock, systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import type { OpenStore } from '../contracts/open-store.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A new DuckDB file in a folder of its own. */
export async function openDuckDbStore(
  clock: Clock = systemClock,
  options: Parameters<typeof DuckDbStore.open>[2] = {},
): Promise<OpenStore<DuckDbStore>> {
  const folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  let store = await DuckDbStore.open(path, clock, options)
  return {
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = await DuckDbStore.open(path, clock, options)
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      folder[Symbol.dispose]()
    },
  }
}
