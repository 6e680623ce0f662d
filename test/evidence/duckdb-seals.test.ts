import { describeSeals } from '../contracts/seals-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'

describeSeals('readings in DuckDB', openDuckDbStore, 60)
