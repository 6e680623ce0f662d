import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tooHot } from '../../support/alerting.ts'
import { FaultyService } from '../../support/faulty-service.ts'

/** Streams whose timers run out in the same second, a quarter at a time; one such group in each second. */
const groupSize = 1_000
const quarterMs = 250
const groups = 10

/** Seconds of `for` in the first group: there has to be time enough to begin with all of them. */
const firstSeconds = 6

const secondUs = 1_000_000

/** To look takes time that the service would have. */
const seldom = { interval: 250 }

/** Makes the streams; their ids, group by group. */
async function ruledStreams({ api }: FaultyService): Promise<readonly (readonly string[])[]> {
  const common = {
    vaultId: await api.createVault(),
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
  }
  const ids: (readonly string[])[] = []
  for (let group = 0; group < groups; group++) {
    const rule = { ...tooHot, for: `${firstSeconds + group}s` }
    const { body } = await api.withToken<{ streams: readonly { streamId: string }[] }>(
      'POST',
      '/streams/bulk',
      {
        definition: { ...common, processing: { alerting: [rule] } },
        streams: Array.from({ length: groupSize }, (_, index) => ({ name: `${group} ${index}` })),
      },
    )
    ids.push(body.streams.map(({ streamId }) => streamId))
  }
  return ids
}

/** Begins all timers, within one second. */
async function heat(
  { api }: FaultyService,
  groupsOfIds: readonly (readonly string[])[],
): Promise<void> {
  const beganMs = performance.now()
  for (let quarter = 0; quarter < 4; quarter++) {
    await sleep(Math.max(0, beganMs + quarter * quarterMs - performance.now()))
    const from = (quarter * groupSize) / 4
    const readings = groupsOfIds
      .flatMap((ids) => ids.slice(from, from + groupSize / 4))
      .map((streamId) => ({ streamId, temperature: 90 }))
    expect((await api.withToken('POST', '/data', readings)).status).toBe(202)
  }
}

/** How many alerts are in a state. */
function countOf({ dataDir }: FaultyService, state: string): number {
  using database = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  const query = 'SELECT count(*) AS n FROM alerts WHERE state = ?'
  return Number(database.prepare(query).get(state)?.['n'])
}

interface Fired {
  /** When its timer ran out, and when everybody was told: microseconds, by the clock of the service. */
  readonly dueAt: number
  readonly toldAt: number
}

/** All alerts that a timer has had fire. */
function fired({ dataDir }: FaultyService): readonly Fired[] {
  using database = new DatabaseSync(join(dataDir, 'state.db'), { readOnly: true })
  const rows = database.prepare(`
    SELECT begun.received_at + fired.at - begun.at AS dueAt, event.at AS toldAt
    FROM alert_history AS begun
    JOIN alert_history AS fired ON fired.alert_id = begun.alert_id AND fired.step = begun.step + 1
    JOIN events AS event ON event.id = fired.event_id
    WHERE begun.to_state = 'pending' AND fired.to_state = 'firing' AND fired.cause = 'timer'`)
  return rows.all() as unknown as readonly Fired[]
}

/**
 * A second on a machine that is at rest; the worker gives way to everybody, so a busy one takes longer. That
 * none waits for more than the next look is shown by a clock of tests (many-timers.test.ts).
 */
const secondsMax = 30

test('ten thousand timers fire in time, once, those that a restart was in the way of, too', async () => {
  await using service = await FaultyService.start()
  await heat(service, await ruledStreams(service))
  // By then some have fired; other timers run out while nothing runs, and others later.
  await sleep((firstSeconds + 3) * 1_000)
  const killedUs = Date.now() * 1_000
  await service.kill()
  await service.restart()
  const startedUs = Date.now() * 1_000
  const all = groups * groupSize
  await expect.poll(() => countOf(service, 'firing'), seldom).toBe(all)

  const timers = fired(service)
  expect(timers).toHaveLength(all)
  expect(timers.filter(({ dueAt, toldAt }) => toldAt < dueAt)).toEqual([])
  const missed = timers.filter(({ dueAt }) => dueAt > killedUs && dueAt <= startedUs)
  expect(missed.length).toBeGreaterThan(0)
  const lateSeconds = timers.map(({ dueAt, toldAt }) => {
    const possibleUs = toldAt > killedUs ? Math.max(dueAt, startedUs) : dueAt
    return (toldAt - possibleUs) / secondUs
  })
  expect(Math.max(...lateSeconds)).toBeLessThan(secondsMax)
})
