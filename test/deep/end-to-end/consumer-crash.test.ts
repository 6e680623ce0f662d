import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { DuckDbStore } from '../../../src/storage/time-series/duckdb/duckdb-store.ts'
import type { ApiClient } from '../../support/api-client.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { SentReadings } from '../../support/sent-readings.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

/*
 * A kill between the commits of the two consumers, in each order, without a hook in the product.
 *
 * Shipper and decider share the worker thread. A commit of DuckDB runs in a thread of its own, so
 * its writes can be held for as long as one likes while the decider goes on. A commit of SQLite
 * blocks the worker thread: were it held, the shipper would stand still too, and GET /metrics with
 * it. So for the other order the disk of the state refuses instead: the decider fails and tries
 * again, while the shipper goes on.
 *
 * What is held before its write leaves nothing behind. What is held, or refused, at its sync was
 * written, and is there after the kill: the consumer was killed before it could hear of its own
 * commit.
 */
const kills = [
  {
    ahead: 'shipper',
    behind: 'decider',
    title: 'before the decider could write its commit',
    fault: 'enospc',
    file: 'state.db',
    isCommitted: false,
  },
  {
    ahead: 'shipper',
    behind: 'decider',
    title: 'before the decider could hear of its commit',
    fault: 'eio',
    file: 'state.db',
    isCommitted: true,
  },
  {
    ahead: 'decider',
    behind: 'shipper',
    title: 'before the shipper could write its commit',
    fault: 'hold',
    file: 'time-series.duckdb',
    isCommitted: false,
  },
  {
    ahead: 'decider',
    behind: 'shipper',
    title: 'before the shipper could hear of its commit',
    fault: 'hold-sync',
    file: 'time-series.duckdb',
    isCommitted: true,
  },
] as const

/** What is sent before the fault, and again under it: by outcome, as the counters have it. */
const stored = 20
const duplicates = 5
const quarantined = 7
const entries = stored + duplicates + quarantined

test.each(kills)('a kill $title loses and doubles nothing', async (kill) => {
  await using service = await FaultyService.start()
  const readings = new SentReadings(await service.api.createStream())
  const { streamId } = readings
  await pushMixture(service.api, readings)
  await service.until('both are through', async () => {
    const lag = await service.metric(`${kill.behind}_lag`)
    return lag === 0 && (await service.metric(`${kill.ahead}_lag`)) === 0
  })
  service.faults.begin(kill.fault, kill.file)
  await pushMixture(service.api, readings)
  await service.until(`the ${kill.ahead} is through, and the ${kill.behind} is not`, async () => {
    const ahead = await service.metric(`${kill.ahead}_lag`)
    const behind = await service.metric(`${kill.behind}_lag`)
    return ahead === 0 && behind === entries && service.faults.isMet
  })
  await service.kill()

  const positions = await positionsIn(service.dataDir)
  expect(positions[kill.ahead]).toBe(2 * entries)
  if (kill.isCommitted) expect(positions[kill.behind]).toBeGreaterThan(entries)
  else expect(positions[kill.behind]).toBe(entries)

  await service.restart()

  const expected = {
    received: 2 * entries,
    stored: 2 * stored,
    duplicates: 2 * duplicates,
    quarantined: 2 * quarantined,
    discarded: 0,
    pending: 0,
  }
  expect(await service.api.settled(streamId, 2 * entries)).toMatchObject(expected)
  expect(await readings.faultsOf(service.api)).toEqual([])
  expect(await service.api.readAll(streamId)).toHaveLength(2 * stored)
  const refused = await quarantineOf(service.api, streamId)
  expect(refused).toHaveLength(2 * quarantined)
  expect(new Set(refused).size).toBe(2 * quarantined)

  await pushMixture(service.api, readings)
  const { received } = await service.api.settled(streamId, 3 * entries)
  expect(received).toBe(3 * entries)
  expect(await readings.faultsOf(service.api)).toEqual([])
})

/** New readings, as many again that came before, and some that are refused. */
async function pushMixture(api: ApiClient, readings: SentReadings): Promise<void> {
  const first = readings.sent
  for (let count = 0; count < stored; count++) {
    expect((await readings.push(api)).status).toBe(202)
  }
  for (let count = 0; count < duplicates; count++) {
    expect((await readings.repeat(api, first + count)).status).toBe(202)
  }
  for (let count = 0; count < quarantined; count++) {
    const path = `/streams/${readings.streamId}/data`
    const { status } = await api.withToken('POST', path, { temperature: `hot ${first + count}` })
    expect(status).toBe(422)
  }
}

/** Where the consumers stand in the files, as the kill has left them. */
async function positionsIn(dataDir: string) {
  using folder = new TemporaryFolder()
  // A copy: to open a file is to repair it, and that is for the service to do.
  cpSync(dataDir, folder.path, { recursive: true })
  const store = await DuckDbStore.open(join(folder.path, 'time-series.duckdb'), systemClock)
  const shipper = store.position()
  await store.close()
  const state = new DatabaseSync(join(folder.path, 'state.db'))
  const row = state
    .prepare(`SELECT next_offset FROM consumer_positions WHERE consumer = 'decider'`)
    .get()
  state.close()
  return { shipper, decider: Number(row?.['next_offset']) }
}

async function quarantineOf(api: ApiClient, streamId: string): Promise<readonly string[]> {
  const path = `/streams/${streamId}/quarantine?limit=1000`
  const { body } = await api.withToken<{ entries: { payload: string }[] }>('GET', path)
  return body.entries.map(({ payload }) => payload)
}
