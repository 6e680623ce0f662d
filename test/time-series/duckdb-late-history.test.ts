import { describe } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { timeSeriesHistoryContract } from '../contracts/time-series-history-contract.ts'
import { timeSeriesReadingsAtContract } from '../contracts/time-series-readings-at-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'

const waits = [
  ['later', { lookUpRowsMax: 0 }],
  ['later, and stored in portions', { lookUpRowsMax: 0, rowsPerLateTable: 2 }],
] as const

/** A reader that goes on where the store ends gets late readings, too, wherever these wait. */
describe.for(waits)('history of late readings that are looked up %s', ([, options]) => {
  timeSeriesHistoryContract(() => openDuckDbStore(systemClock, options))
})

describe.for(waits)('late readings of one time that are looked up %s', ([, options]) => {
  timeSeriesReadingsAtContract(() => openDuckDbStore(systemClock, options))
})
