import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

/** Rows that the state has of the alerts of a stream: of alerts, of their history, and of its rules. */
function alertRowsOf(dataDir: string, streamId: string): readonly unknown[] {
  using database = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  return ['alerts', 'alert_history', 'alert_memories'].map((table) => {
    const query = `SELECT count(*) AS n FROM ${table} WHERE stream_id = ?`
    return database.prepare(query).get(streamId)?.['n']
  })
}

/** State and cause of each step of the newest alert, as text. */
async function steps(stream: RuledStream): Promise<readonly string[]> {
  return (await stream.history()).map(({ cause, from, to }) => `${cause}: ${from} ${to}`)
}

async function state(stream: RuledStream): Promise<string | undefined> {
  return (await stream.alerts())[0]?.state
}

async function change(stream: RuledStream, ...rules: readonly object[]): Promise<void> {
  const body = { processing: { alerting: rules } }
  await service.api.withToken('PUT', `/streams/${stream.id}`, body)
}

describe('a timer', () => {
  test('ends `for` when no reading comes', async () => {
    const stream = await RuledStream.make(service.api, { ...tooHot, for: '1s' })
    await stream.push(90)

    await expect.poll(() => state(stream)).toBe('firing')

    expect(await steps(stream)).toEqual(['reading: ok pending', 'timer: pending firing'])
    expect((await stream.alert()).triggeredAt).toBe('2026-01-01T00:00:01.000000Z')
  })

  test('ends `clearFor` when no reading comes', async () => {
    const stream = await RuledStream.make(service.api, { ...tooHot, clearFor: '1s' })
    await stream.push(90, 20)

    await expect.poll(() => state(stream)).toBe('cleared')

    expect(await steps(stream)).toEqual(['reading: ok firing', 'timer: firing cleared'])
  })

  test('tells that a stream is silent, though nothing has ever come', async () => {
    const stream = await RuledStream.make(service.api, { id: 'silent', silentFor: '1s' })

    await expect.poll(() => state(stream)).toBe('firing')
    await stream.push(20)

    // Soon it is silent again, which is another alert.
    const first = async () => (await stream.alerts()).at(-1)
    await expect.poll(first).toMatchObject({ state: 'cleared', threshold: 1 })
  })

  test('waits while readings put silence off', async () => {
    const stream = await RuledStream.make(service.api, { id: 'silent', silentFor: '2s' })
    const pushes: { readonly sentMs: number; readonly answeredMs: number }[] = []
    const beganMs = Date.now()
    await expect
      .poll(async () => {
        const sentMs = Date.now()
        await stream.send(20)
        pushes.push({ sentMs, answeredMs: Date.now() })
        return Date.now() - beganMs
      })
      .toBeGreaterThan(3_000)

    await expect.poll(() => state(stream)).toBe('firing')
    // A machine that stood still has made us silent before: each alert must have had its two seconds.
    const heardBefore = (atMs: number) =>
      pushes.filter(({ sentMs, answeredMs }) => sentMs > atMs - 2_000 && answeredMs < atMs)
    const alerts = await stream.alerts()
    expect(alerts.flatMap((one) => heardBefore(Date.parse(one.triggeredAt ?? '')))).toEqual([])
  })

  test('of one rule does not keep that of another waiting', async () => {
    const burning = { ...tooHot, id: 'burning', threshold: 100, for: '3s' }
    const stream = await RuledStream.make(service.api, { ...tooHot, for: '1s' }, burning)
    await stream.push(120)

    const firing = async () =>
      (await stream.alerts('?state=firing')).map((one) => `${one.ruleId} ${one.triggeredAt}`)
    await expect
      .poll(async () => (await firing()).toSorted())
      .toEqual(['burning 2026-01-01T00:00:03.000000Z', 'too-hot 2026-01-01T00:00:01.000000Z'])
  })
})

describe('a change of the definition', () => {
  test('ends the alerts of a rule that is no more', async () => {
    const stream = await RuledStream.make(service.api, tooHot)
    await stream.push(90)

    await change(stream)

    await expect.poll(() => state(stream)).toBe('cleared')
    expect(await steps(stream)).toEqual(['reading: ok firing', 'definition: firing cleared'])
  })

  test('has a changed rule start at ok, and leaves the others', async () => {
    const other = { ...tooHot, id: 'warm', threshold: 30 }
    const stream = await RuledStream.make(service.api, tooHot, other)
    await stream.push(90)

    await change(stream, { ...tooHot, threshold: 85 }, other)
    await stream.push(90)

    const states = (await stream.alerts()).map(({ ruleId, state: is }) => `${ruleId} ${is}`)
    expect(states.toSorted()).toEqual(['too-hot cleared', 'too-hot firing', 'warm firing'])
  })
})

test('a deleted stream takes its alerts with it', async () => {
  const stream = await RuledStream.make(service.api, tooHot)
  await stream.push(90)
  const { alertId } = await stream.alert()

  await service.api.withToken('DELETE', `/streams/${stream.id}`)

  expect((await service.api.withToken('GET', `/alerts/${alertId}`)).status).toBe(404)
  expect((await service.api.withToken('GET', `/alerts?streamId=${stream.id}`)).body).toEqual([])
  const removedAt = async () => {
    const path = `/streams/${stream.id}/deletion`
    return (await service.api.withToken<{ removedAt: unknown }>('GET', path)).body.removedAt
  }
  await expect.poll(removedAt).not.toBeNull()
  const { dataDir } = service.process
  const rows = alertRowsOf(dataDir, stream.id)
  expect(rows).toEqual([0, 0, 0])
})
