import { renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type AlertBody, RuledStream } from '../support/alerting.ts'
import { FaultyService } from '../support/faulty-service.ts'

/** Long beside what a slow machine needs to send the first reading once there is room. */
const silentMs = 6_000

/** What keeps a running service from taking readings. Resolves to what ends it. */
const troubles: readonly (readonly [string, (service: FaultyService) => () => void])[] = [
  [
    'the disk is full',
    (service) => {
      service.faults.begin('enospc', 'journal.db-wal')
      return () => service.faults.end()
    },
  ],
  [
    'the data folder is elsewhere',
    ({ dataDir }) => {
      const elsewhere = `${dataDir}-elsewhere`
      renameSync(dataDir, elsewhere)
      return () => renameSync(elsewhere, dataDir)
    },
  ],
]

test.each(troubles)(
  'while %s nobody is silent, and who stays silent is told of after that',
  async (_, begin) => {
    await using service = await FaultyService.start()
    const rule = { id: 'silent', silentFor: `${silentMs / 1_000}s` }
    const alive = await RuledStream.make(service.api, rule)
    const dead = await RuledStream.make(service.api, rule)
    for (const stream of [alive, dead]) await stream.push(20)
    await service.api.settled(dead.id, 1)
    const send = async () =>
      (await service.api.withToken('POST', `/streams/${alive.id}/data`, { temperature: 21 })).status

    const end = begin(service)
    await service.until('a reading is refused', async () => (await send()) === 503)
    await sleep(silentMs + 1_000)
    expect(await send()).toBe(503)
    const endedMs = Date.now()
    end()
    let fired: AlertBody | undefined
    await service.until('the other one is told of', async () => {
      await send()
      fired = (await dead.alerts()).at(0)
      return fired !== undefined
    })

    expect(Date.parse(fired?.triggeredAt ?? '')).toBeGreaterThanOrEqual(endedMs + silentMs)
    expect(await alive.alerts()).toEqual([])
  },
)
