import { timeSeriesWindowEndsContract } from '../contracts/time-series-window-ends-contract.ts'
import { timeSeriesWindowsContract } from '../contracts/time-series-windows-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'

timeSeriesWindowsContract(openDuckDbStore)
timeSeriesWindowEndsContract(openDuckDbStore)
