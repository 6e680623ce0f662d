import { test } from 'vitest'
import {
  rollupsAnswerAsReadings,
  timeSeriesRollupsContract,
} from '../contracts/time-series-rollups-contract.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { eagerRollups, longAfter } from '../support/rollup-history.ts'

timeSeriesRollupsContract(openDuckDbStore)

test('queries answer the same with rollups as without when late readings wait for each other', async () => {
  const options = { lookUpRowsMax: 5, rollups: eagerRollups }
  await rollupsAnswerAsReadings(await openDuckDbStore(longAfter, options))
})
