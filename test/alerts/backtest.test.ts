import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newMemory } from '../../processors/alert-memory.ts'
import { type AlertRule, compileAlertRules } from '../../processors/alert-rules.ts'
import { step } from '../../processors/alerts.ts'
import { Backtest, type BacktestAlert } from '../../src/alerts/backtest.ts'
import { diffOf } from '../../src/alerts/backtest-diff.ts'
import type { SeriesPage } from '../../src/storage/time-series/series.ts'
import { isHot, reading, secondUs } from '../support/alert-signals.ts'

const fields = { t: { type: 'number' } } as const

/** A page of readings, one each second from `from` on; NaN is a reading without the field. */
function page(from: number, values: readonly number[]): SeriesPage {
  return {
    timesUs: Float64Array.from(values, (_, index) => (from + index) * secondUs),
    columns: [{ type: 'number', values: Float64Array.from(values) }],
    next: undefined,
  }
}

function backtest(
  pages: readonly SeriesPage[],
  {
    proposed = [isHot],
    current,
    end = 0,
  }: { proposed?: AlertRule[]; current?: AlertRule[]; end?: number } = {},
) {
  const run = new Backtest({ proposed, current, fields, columns: ['t'] })
  for (const each of pages) run.take(each)
  return run.finish(end * secondUs)
}

/** The seconds at which alerts begin and end, and of the readings around them. */
function shown(alerts: readonly BacktestAlert[]) {
  return alerts.map(({ triggeredAtUs, clearedAtUs, readings }) => [
    triggeredAtUs / secondUs,
    clearedAtUs === null ? null : clearedAtUs / secondUs,
    readings.map(({ timestampUs }) => timestampUs / secondUs),
  ])
}

describe('a backtest', () => {
  test('shows the readings around each alert, wherever a page ends', () => {
    const values = [0, 0, 0, 0, 81, 82, 0, 0, 0, 90]
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 9 })), (cuts) => {
        const edges = [0, ...cuts.toSorted((left, right) => left - right), values.length]
        const pages = edges
          .slice(1)
          .map((end, index) => page(edges[index] ?? 0, values.slice(edges[index], end)))

        expect(shown(backtest(pages).proposed.alerts)).toEqual([
          [4, 6, [1, 2, 3, 4, 5, 6]],
          [9, null, [6, 7, 8, 9]],
        ])
      }),
    )
  })

  test('lets time pass after the last reading, to the end of the range', () => {
    const rule = { ...isHot, forUs: 60 * secondUs }

    expect(shown(backtest([page(0, [81])], { proposed: [rule], end: 59 }).proposed.alerts)).toEqual(
      [],
    )
    expect(shown(backtest([page(0, [81])], { proposed: [rule], end: 60 }).proposed.alerts)).toEqual(
      [[60, null, [0]]],
    )
  })

  test('does with readings what the machine does when they are received at their times', () => {
    const readings = fc.array(fc.tuple(fc.nat({ max: 90 }), fc.option(fc.nat({ max: 160 }))))
    const rule = { ...isHot, forUs: 30 * secondUs, clearForUs: 60 * secondUs }
    fc.assert(
      fc.property(readings, (given) => {
        let second = 0
        const at = given.map(([pause, t]) => ({ second: (second += pause), t }))
        const [compiled] = compileAlertRules([rule], fields).rules
        const memory = newMemory()
        const moves = at.flatMap(({ second: when, t }) =>
          compiled === undefined ? [] : step(compiled, memory, reading(when, t ?? undefined)),
        )

        const { alerts } = backtest(
          at.map(({ second: when, t }) => page(when, [t ?? NaN])),
          {
            proposed: [rule],
          },
        ).proposed

        const begun = moves.filter(({ to }) => to === 'firing')
        expect(alerts.map(({ triggeredAtUs }) => triggeredAtUs)).toEqual(
          begun.map(({ atUs }) => atUs),
        )
      }),
    )
  })

  test('lists so many alerts, and counts all', () => {
    const values = Array.from({ length: 1_202 }, (_, index) => (index % 2 === 0 ? 0 : 81))
    // Far enough apart not to flap.
    const far = values.map((value, index) => page(index * 600, [value]))
    const { alerts, count } = backtest(far).proposed

    expect(alerts).toHaveLength(500)
    expect(count).toBe(601)
  })

  test('runs the rules of the stream beside those that are proposed', () => {
    const { proposed, current } = backtest([page(0, [85, 95, 0])], {
      proposed: [{ ...isHot, threshold: 90 }],
      current: [isHot],
    })

    expect(shown(proposed.alerts)).toEqual([[1, 2, [0, 1, 2]]])
    expect(shown(current?.alerts ?? [])).toEqual([[0, 2, [0, 1, 2]]])
  })
})

function alert(triggeredAtUs: number, clearedAtUs: number | null, ruleId = 'hot'): BacktestAlert {
  const about = { ruleId, severity: 'warning', value: 1, threshold: 0 } as const
  const rest = { sinceUs: triggeredAtUs, isFlapping: false, flaps: 0, readings: [] }
  return { ...about, ...rest, triggeredAtUs, clearedAtUs }
}

function difference(proposed: readonly BacktestAlert[], current: readonly BacktestAlert[]) {
  const { both, onlyProposed, onlyCurrent } = diffOf(proposed, current)
  return [both, onlyProposed, onlyCurrent].map((alerts) =>
    alerts.map(({ triggeredAtUs }) => triggeredAtUs),
  )
}

describe('a difference', () => {
  test('is none between alerts that share some time', () => {
    const proposed = [alert(2, 4), alert(8, null)]
    const current = [alert(1, 2), alert(9, 10)]

    expect(difference(proposed, current)).toEqual([[2, 8], [], []])
  })

  test('is in alerts at other times, and in those of other rules', () => {
    const proposed = [alert(1, 2), alert(5, 6), alert(5, 6, 'cold')]
    const current = [alert(3, 4), alert(5, 7)]

    expect(difference(proposed, current)).toEqual([[5], [1, 5], [3]])
  })

  test('is in all but one of several that share the time of one', () => {
    expect(difference([alert(1, 10)], [alert(1, 2), alert(3, 4)])).toEqual([[1], [], [3]])
  })
})
