import { describe } from 'vitest'
import { timeSeriesAggregationContract } from '../../contracts/time-series-aggregation-contract.ts'
import { timeSeriesSplitContract } from '../../contracts/time-series-split-contract.ts'
import { timeSeriesTimeWeightsContract } from '../../contracts/time-series-time-weights-contract.ts'
import { openDuckDbStore } from '../../support/duckdb-store.ts'

describe('aggregation', () => timeSeriesAggregationContract(openDuckDbStore))
describe('series of values', () => timeSeriesSplitContract(openDuckDbStore))
describe('averages by time', () => timeSeriesTimeWeightsContract(openDuckDbStore))
