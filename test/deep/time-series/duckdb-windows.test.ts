import { describe } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { timeSeriesWindowsContract } from '../../contracts/time-series-windows-contract.ts'
import { openDuckDbStore } from '../../support/duckdb-store.ts'

timeSeriesWindowsContract(openDuckDbStore, 60)

describe.for([
  ['later', { lookUpRowsMax: 0 }],
  ['later, and stored in portions', { lookUpRowsMax: 0, rowsPerLateTable: 2 }],
] as const)('when late readings are looked up %s', ([, options]) => {
  timeSeriesWindowsContract(() => openDuckDbStore(systemClock, options), 25)
})
