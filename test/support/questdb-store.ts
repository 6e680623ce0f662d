import { copyFileSync, rmSync } from 'node:fs'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { QuestDbStore } from '../../src/storage/time-series/questdb/questdb-store.ts'
import type { RollupOptions } from '../../src/storage/time-series/rollups/candidates.ts'
import type { OpenStore } from '../contracts/open-store.ts'
import type { QuestDb } from './questdb.ts'
import { TemporaryFolder } from './temporary-folder.ts'

const heldBytesMax = 1024 ** 3

const logger = { warn: () => undefined, error: () => undefined }

/** A new store in tables of its own on a server that others use, too. */
export async function openQuestDbStore(
  questDb: QuestDb,
  clock: Clock = systemClock,
  { rollups }: { readonly rollups?: RollupOptions } = {},
): Promise<OpenStore<QuestDbStore>> {
  const folder = new TemporaryFolder()
  const path = folder.file('positions.db')
  const options = {
    server: questDb.newServer(),
    path,
    clock,
    logger,
    heldBytesMax,
    ...(rollups && { rollups }),
  }
  const kept = folder.file('kept.db')
  let store = new QuestDbStore(options)
  return {
    get store() {
      return store
    },
    async reopen() {
      await store.close()
      store = new QuestDbStore(options)
    },
    async losing(work) {
      await store.close()
      copyFileSync(options.path, kept)
      store = new QuestDbStore(options)
      await work()
      await store.close()
      for (const ending of ['-wal', '-shm']) rmSync(options.path + ending, { force: true })
      copyFileSync(kept, options.path)
      store = new QuestDbStore(options)
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await questDb.dropTables(options.server)
      folder[Symbol.dispose]()
    },
  }
}
