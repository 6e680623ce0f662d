import { beforeAll, expect, test } from 'vitest'
import { FaultyService } from '../support/faulty-service.ts'

let service: FaultyService
let streamId: string

beforeAll(async () => {
  service = await FaultyService.start()
  streamId = await service.api.createStream()
  return () => service[Symbol.asyncDispose]()
})

test('the metrics have how many backtests are open', async () => {
  const body = {
    start: '2026-01-01T00:00:00Z',
    end: '2026-01-02T00:00:00Z',
    rules: { temperature: { max: 80 } },
  }
  await expect
    .poll(async () => {
      const running = service.api
        .withToken('POST', `/streams/${streamId}/alerts/backtest`, body)
        .then(({ status }) => status)
      const ended = () => Promise.race([running, Promise.resolve(undefined)])
      let most = 0
      while ((await ended()) === undefined) {
        most = Math.max(most, await service.metric('backtests_open'))
      }
      expect(await running).toBe(200)
      return most
    })
    .toBe(1)
  expect(await service.metric('backtests_open')).toBe(0)
})

test('the metrics have how many streams wait for rules of fleets', async () => {
  const path = `/streams/${streamId}`
  const { vaultId } = (await service.api.withToken<{ vaultId: string }>('GET', path)).body
  // The entry that says which rules hold cannot be written.
  service.faults.begin('hold', 'journal.db')
  const rule = { field: 'temperature', operator: '>', threshold: 80 }
  await service.api.withToken('POST', '/alert-rules', { name: 'hot', vaultId, rule })
  expect(await service.metric('alert_rule_streams_pending')).toBe(1)

  service.faults.end()

  await expect.poll(() => service.metric('alert_rule_streams_pending')).toBe(0)
})
