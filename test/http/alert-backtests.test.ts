import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const start = '2026-01-31T00:00:00Z'
const end = '2026-02-01T00:00:00Z'

function at(second: number): string {
  return new Date(Date.parse(start) + second * 1_000).toISOString()
}

function instant(second: number): string {
  return at(second).replace('Z', '000Z')
}

const schema = {
  temperature: { type: 'number' },
  mode: { type: 'string' },
} as const

/** A stream with a reading each minute, and rules of its own. */
async function streamWith(temperatures: readonly number[], alertThresholds: unknown = false) {
  const streamId = await service.api.createStream(schema, { processing: { alertThresholds } })
  const readings = temperatures.map((temperature, index) => ({
    timestamp: at(index * 60),
    temperature,
    mode: temperature > 50 ? 'high' : 'low',
  }))
  const pushed = await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  expect(pushed.status).toBe(202)
  await service.api.settled(streamId, temperatures.length)
  return streamId
}

async function backtest(streamId: string, body: object) {
  const { status, body: answer } = await service.api.withToken(
    'POST',
    `/streams/${streamId}/alerts/backtest`,
    body,
  )
  return { status, body: answer as Readonly<Record<string, unknown>> }
}

describe('a backtest', () => {
  test('answers the alerts that proposed rules would have raised, with the readings around them', async () => {
    const streamId = await streamWith([10, 20, 90, 20, 10])
    const rules = [{ id: 'hot', field: 'temperature', operator: '>', threshold: 80 }]

    expect(await backtest(streamId, { start, end, rules })).toMatchObject({
      status: 200,
      body: {
        streamId,
        readings: 5,
        count: 1,
        alerts: [
          {
            ruleId: 'hot',
            severity: 'warning',
            since: instant(120),
            triggeredAt: instant(120),
            clearedAt: instant(180),
            value: 90,
            threshold: 80,
            flapping: false,
            flaps: 0,
            readings: [10, 20, 90, 20, 10].map((temperature, index) => ({
              timestamp: instant(index * 60),
              temperature,
            })),
          },
        ],
        diff: {
          both: [],
          onlyProposed: [{ ruleId: 'hot', triggeredAt: instant(120) }],
          onlyCurrent: [],
        },
      },
    })
  })

  test('compares them with the rules of the stream, and leaves those as they are', async () => {
    const own = { temperature: { max: 80 } }
    const streamId = await streamWith([10, 85, 10, 95, 10], own)
    const before = await service.api.withToken('GET', `/streams/${streamId}`)

    const { body } = await backtest(streamId, { start, end, rules: { temperature: { max: 90 } } })

    expect(body['diff']).toMatchObject({
      both: [{ triggeredAt: instant(180) }],
      onlyProposed: [],
      onlyCurrent: [{ ruleId: 'temperature.max', triggeredAt: instant(60) }],
    })
    expect((await service.api.withToken('GET', `/streams/${streamId}`)).body).toEqual(before.body)
  })

  test('runs the rules of the stream when none are proposed', async () => {
    const streamId = await streamWith([10, 85, 10], { temperature: { max: 80 } })

    expect((await backtest(streamId, { start, end })).body).toMatchObject({ count: 1, diff: null })
  })

  test('takes the rules for many streams as what goes on in any case', async () => {
    const streamId = await streamWith([10, 85, 10, 65, 10], { temperature: { max: 80 } })
    const vaultId = (
      await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
    ).body.vaultId
    const rule = { field: 'temperature', operator: '>', threshold: 60 }
    const made = await service.api.withToken<{ ruleId: string }>('POST', '/alert-rules', {
      name: 'warm',
      vaultId,
      rule,
    })
    const { ruleId } = made.body
    const ran = async () => (await backtest(streamId, { start, end })).body
    await expect.poll(ran).toMatchObject({ count: 3, diff: null })

    const { body } = await backtest(streamId, { start, end, rules: { temperature: { max: 99 } } })

    expect(body).toMatchObject({
      count: 0,
      diff: {
        both: [
          { ruleId, triggeredAt: instant(60) },
          { ruleId, triggeredAt: instant(180) },
        ],
        onlyProposed: [],
        onlyCurrent: [{ ruleId: 'temperature.max', triggeredAt: instant(60) }],
      },
    })
  })

  test('takes rules about texts, conditions and silence', async () => {
    const streamId = await streamWith([10, 85, 10])
    const rules = [
      { field: 'mode', operator: '==', threshold: 'high' },
      { condition: 'mode == "high" && temperature > 80.0' },
      { silentFor: '1h' },
    ]

    const { body } = await backtest(streamId, { start, end, rules })

    expect(body['alerts']).toMatchObject([
      { ruleId: 'mode.equals', triggeredAt: instant(60), value: 'high' },
      { ruleId: 'condition', triggeredAt: instant(60), value: true },
      { ruleId: 'silent', triggeredAt: instant(120 + 3_600), clearedAt: null, value: null },
    ])
  })

  test('is of the range that is asked for, and of nothing else', async () => {
    const streamId = await streamWith([90, 10, 90, 10])
    const rules = { temperature: { max: 80 } }

    const { body } = await backtest(streamId, { start: at(60), end: at(180), rules })

    expect(body).toMatchObject({ readings: 2, count: 1 })
  })

  test.each([
    [{ rules: [{ field: 'heat', operator: '>', threshold: 1 }] }, 'rules.0.field'],
    [{ rules: { temperature: {} } }, 'rules.temperature'],
    [{ rules: 'hot' }, 'rules'],
    [{ end: '2027-02-03T00:00:00Z' }, 'end'],
    [{ end: '2026-01-30T00:00:00Z' }, 'end'],
    [{ start: 'yesterday' }, 'start'],
  ])('with %j is refused, naming what is wrong', async (wrong, path) => {
    const streamId = await service.api.createStream(schema)

    const { status, body } = await backtest(streamId, { start, end, ...wrong })

    expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_request' })
    expect(body['details']).toEqual([expect.objectContaining({ path })])
  })
})
