import { beforeAll, describe, expect, test } from 'vitest'
import { distinctRows, replayedSeries } from '../support/replayed-series.ts'
import { runningService } from '../support/running-service.ts'

interface ListedAlert {
  readonly ruleId: string
  readonly triggeredAt: string | null
  readonly clearedAt: string | null
}

const service = runningService()
const schema = { value: { type: 'number', required: true } }

/** Readings of one request. */
const batch = 1_000

/** Alerts of a page. */
const alertsMax = 1_000

describe.each(replayedSeries())('$name, sent in the order of its times', ({ rows }) => {
  const distinct = distinctRows(rows).map((row) => ({ ...row, value: Number(row.value) }))
  let streamId: string

  beforeAll(async () => {
    // Readings of one time have an order in the store: they are sent in that one.
    const unruled = await service.api.createStream(schema)
    await send(unruled, distinct)
    const ordered = await service.api.readAll(unruled)
    streamId = await service.api.createStream(schema, {
      processing: { alerting: rulesFor(distinct) },
    })
    await send(streamId, ordered)
  })

  test('raises the alerts that a backtest says, at the same times', async () => {
    const points = await service.api.readAll(streamId)
    const times = points.map(({ timestamp }) => Date.parse(String(timestamp)))
    // No time passes after the last reading, as hardly any has passed in reality.
    const end = new Date((times.at(-1) ?? 0) + 1).toISOString()
    const { body } = await service.api.withToken<{ alerts: ListedAlert[]; count: number }>(
      'POST',
      `/streams/${streamId}/alerts/backtest`,
      { start: new Date(times[0] ?? 0).toISOString(), end },
    )

    expect(body.count).toBe(body.alerts.length)
    expect(new Set(body.alerts.map(({ ruleId }) => ruleId)).size).toBeGreaterThan(3)
    const live = await allAlerts(streamId)
    expect(shown(live)).toEqual(shown(body.alerts))
  })
})

/** Rules of all kinds that the series breaks now and then. */
function rulesFor(rows: readonly { readonly value: number }[]) {
  const values = rows.map(({ value }) => value).toSorted((left, right) => left - right)
  const at = (share: number) => values[Math.floor((values.length - 1) * share)] as number
  const high = { field: 'value', operator: '>', threshold: at(0.98) }
  return [
    { ...high, id: 'high' },
    { ...high, id: 'high-and-steady', clearThreshold: at(0.9), for: '10m', clearFor: '30m' },
    { ...high, id: 'high-average', function: 'avg', window: '1h', threshold: at(0.95) },
    {
      ...high,
      id: 'restless',
      function: 'stddev',
      window: '3h',
      threshold: (at(0.9) - at(0.1)) / 2.5,
    },
    { ...high, id: 'jump', function: 'rate', threshold: (at(0.99) - at(0.2)) / 330 },
    { id: 'low', condition: `value < ${at(0.01).toFixed(6)}`, for: '5m', severity: 'critical' },
    { id: 'few', function: 'count', window: '1h', operator: '<', threshold: 3 },
  ]
}

async function send(streamId: string, readings: readonly object[]): Promise<void> {
  for (let from = 0; from < readings.length; from += batch) {
    const body = readings.slice(from, from + batch)
    const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, body)
    expect(status).toBe(202)
  }
  await service.api.settled(streamId, readings.length)
}

/** All that were raised: the series raise less than a page of them. */
async function allAlerts(streamId: string): Promise<readonly ListedAlert[]> {
  const path = `/streams/${streamId}/alerts?limit=${alertsMax}`
  const { body } = await service.api.withToken<readonly ListedAlert[]>('GET', path)
  expect(body.length).toBeLessThan(alertsMax)
  return body
}

/** Alerts that have begun, in an order that both have. */
function shown(alerts: readonly ListedAlert[]) {
  return alerts
    .filter(({ triggeredAt }) => triggeredAt !== null)
    .map(({ ruleId, triggeredAt, clearedAt }) => `${triggeredAt} ${ruleId} until ${clearedAt}`)
    .toSorted()
}
