import { beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
let stream: RuledStream
let userId: string

beforeEach(async () => {
  stream = await RuledStream.make(service.api, tooHot)
  userId = await service.api.userId()
  await stream.push(90)
})

/** Status and code of an answer. */
async function refusal(kind: string, body: object = {}): Promise<readonly [number, string]> {
  const answer = await stream.act(kind, body)
  return [answer.status, (answer.body as unknown as ErrorBody).error]
}

describe('somebody', () => {
  test('acknowledges an alert, and it ends by itself', async () => {
    const { status, body } = await stream.act('acknowledge', { comment: 'on my way' })
    await stream.push(20)

    expect([status, body]).toMatchObject([200, { state: 'acknowledged', acknowledgedBy: userId }])
    expect(await stream.alert()).toMatchObject({ state: 'cleared', acknowledgedBy: userId })
    expect(await stream.history()).toMatchObject([
      { cause: 'reading', from: 'ok', to: 'firing', reading: { temperature: 90 } },
      { cause: 'acknowledge', to: 'acknowledged', comment: 'on my way', userId, reading: null },
      { cause: 'reading', from: 'acknowledged', to: 'cleared', value: 20 },
    ])
  })

  test('clears an alert, which begins again only after the rule was not broken', async () => {
    await stream.act('clear')
    await stream.push(91)
    expect(await stream.alerts()).toMatchObject([{ state: 'cleared' }])

    await stream.push(20, 92)

    expect(await stream.alerts()).toMatchObject([{ state: 'firing' }, { state: 'cleared' }])
  })

  test('comments on an alert, which stays as it is', async () => {
    const { body } = await stream.act('comment', { comment: 'the fan is stuck' })

    expect(body.state).toBe('firing')
    expect(await stream.history()).toMatchObject([
      { cause: 'reading' },
      { cause: 'comment', from: 'firing', to: 'firing', comment: 'the fan is stuck', userId },
    ])
  })

  test('mutes an alert until a time, and unmutes it before', async () => {
    const mutedUntil = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000).toISOString()
    const muted = await stream.act('mute', { until: mutedUntil })
    const unmuted = await stream.act('unmute')

    expect(muted.body.mutedUntil).toBe(mutedUntil.replace('.000Z', '.000000Z'))
    expect(unmuted.body.mutedUntil).toBeNull()
    expect((await stream.history()).map(({ cause }) => cause)).toEqual([
      'reading',
      'mute',
      'unmute',
    ])
  })

  test('cannot do what the state of the alert does not allow', async () => {
    await stream.act('acknowledge')
    expect(await refusal('acknowledge')).toEqual([409, 'wrong_alert_state'])

    await stream.act('clear')

    for (const kind of ['acknowledge', 'clear', 'unmute']) {
      expect(await refusal(kind)).toEqual([409, 'wrong_alert_state'])
    }
    expect(await refusal('comment', { comment: 'late' })).toEqual([409, 'wrong_alert_state'])
  })

  test.each(['2020-01-01T00:00:00Z', 'soon'])('cannot mute until %s', async (until) =>
    expect(await refusal('mute', { until })).toEqual([400, 'invalid_request']),
  )

  test('of many at once acknowledges an alert once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => stream.act('acknowledge')))

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
    expect(await stream.history()).toHaveLength(2)
  })
})

describe('the lists', () => {
  test('tell alerts apart by state, severity and rule', async () => {
    const other = { ...tooHot, id: 'burning', threshold: 200, severity: 'critical' }
    const both = await RuledStream.make(service.api, tooHot, other)
    await both.push(100, 300, 10, 90)

    const states = (await both.alerts()).map(({ ruleId, state }) => `${ruleId} ${state}`)
    expect(states.toSorted()).toEqual(['burning cleared', 'too-hot cleared', 'too-hot firing'])
    expect(await both.alerts('?state=firing')).toMatchObject([{ ruleId: 'too-hot' }])
    expect(await both.alerts('?severity=critical')).toMatchObject([{ ruleId: 'burning' }])
    expect(await both.alerts('?ruleId=too-hot')).toHaveLength(2)
    const path = `/alerts?state=firing&streamId=${both.id}`
    expect((await service.api.withToken('GET', path)).body).toHaveLength(1)
  })

  test('go on by pages, newest first', async () => {
    const busy = await RuledStream.make(service.api, tooHot)
    await busy.push(90, 20, 91, 20, 92)

    const first = await service.api.withToken<unknown[]>(
      'GET',
      `/streams/${busy.id}/alerts?limit=2`,
    )
    const next = /<(.*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await service.api.withToken<unknown[]>('GET', next)

    expect(first.body).toMatchObject([{ value: 92 }, { clearedAt: '2026-01-01T00:00:03.000000Z' }])
    expect(second.body).toMatchObject([{ clearedAt: '2026-01-01T00:00:01.000000Z' }])
    expect(second.headers.get('link')).toBeNull()
  })

  test('count what goes on, of all vaults and of each', async () => {
    const path = '/alerts/summary'
    interface Summary {
      readonly firing: { readonly warning: number }
      readonly vaults: readonly { readonly vaultId: string; readonly firing: object }[]
    }
    const before = (await service.api.withToken<Summary>('GET', path)).body
    const another = await RuledStream.make(service.api, tooHot)
    await another.push(90)

    const after = (await service.api.withToken<Summary>('GET', path)).body

    expect(after.firing.warning).toBe(before.firing.warning + 1)
    const { vaultId } = (await another.alert()) as unknown as { vaultId: string }
    expect(after.vaults.find((one) => one.vaultId === vaultId)?.firing).toEqual({
      info: 0,
      warning: 1,
      critical: 0,
    })
  })
})
