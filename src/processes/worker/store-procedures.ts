import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../core/clock.ts'
import { race } from '../../core/race.ts'
import { Moved } from '../../core/threads/rpc.ts'
import { readWindows } from '../../reading/windows/read-windows.ts'
import { memoryOf, readSeries } from '../../storage/time-series/series.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import { linesOf } from '../../streams/data-streams/readings-text.ts'
import type { StoredProcedures, StoreProcedures } from './worker-contract.ts'

/** How long late readings are waited for: to look them up takes seconds. */
const placedWaitMs = 10_000

/** Procedures that other threads call on the store. */
export function storeProcedures(
  composed: Promise<{ readonly store: TimeSeriesStore }>,
): StoreProcedures & StoredProcedures {
  return {
    async query(query) {
      return (await composed).store.query(query)
    },
    async aggregate(query) {
      return (await composed).store.aggregate(query)
    },
    async readLines({ query, format, columns }) {
      const { points, next } = await (await composed).store.query(query)
      const bytes = linesOf(format, points, columns)
      return new Moved({ bytes, rows: points.length, next }, [bytes.buffer])
    },
    async readSeries(query) {
      const page = await readSeries((await composed).store, query)
      return new Moved(page, memoryOf(page))
    },
    async fieldsOf(streamId) {
      return (await composed).store.fieldsOf(streamId)
    },
    async latest(query) {
      return (await composed).store.latest(query)
    },
    async history(query) {
      return (await composed).store.history(query)
    },
    async readingsAt(query) {
      return (await composed).store.readingsAt(query)
    },
    async placeBeforeNewest({ streamId, count }) {
      return (await composed).store.placeBeforeNewest(streamId, count)
    },
    async windows(query) {
      return await readWindows((await composed).store, query, systemClock)
    },
    async refusedReadings(query) {
      return (await composed).store.refused?.(query) ?? { readings: [], hasMore: false }
    },
    async latePlaced(streamId) {
      const placed = (await composed).store.placeLate?.(streamId)
      if (placed === undefined) return true
      const done = placed.then(() => true)
      return await race([done, sleep(placedWaitMs, false, { ref: false })])
    },
    async progress(streamId) {
      const { store } = await composed
      return { counts: store.counts(streamId), storedPerSecond: store.storedPerSecond(streamId) }
    },
  }
}
