import { timeSeriesConcurrencyContract } from '../contracts/time-series-concurrency-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'

// In a file of its own, and so in a process of its own: what goes wrong here goes wrong in DuckDB's
// own code, and takes the whole process with it.
timeSeriesConcurrencyContract(openDuckDbStore)
