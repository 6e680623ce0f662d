import { type MessagePort, parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '../core/threads/priority.ts'
import { serveCalls } from '../core/threads/rpc.ts'
import type { SeriesPage } from '../storage/time-series/series.ts'
import { Backtest, type BacktestPlan, type BacktestResult } from './backtest.ts'

/** What other threads may ask of this one: it lives for one backtest. */
export interface BacktestProcedures {
  begin(plan: BacktestPlan): void
  /** Pages in the order of time. */
  take(page: SeriesPage): void
  finish(endUs: number): BacktestResult
}

/** Runs rules over readings apart from everybody who takes and answers requests, and behind them. */
function run(port: MessagePort): void {
  lowerThreadPriority()
  let backtest: Backtest | undefined
  const procedures: BacktestProcedures = {
    begin(plan) {
      backtest = new Backtest(plan)
    },
    take(page) {
      backtest?.take(page)
    },
    finish(endUs) {
      if (backtest === undefined) throw new Error('no backtest was begun')
      return backtest.finish(endUs)
    },
  }
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort)
