import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { ServiceWithQuestDb } from '../../support/service-with-questdb.ts'
import { TcpProxy } from '../../support/tcp-proxy.ts'

const kills = 20
const resets = 30

describe.skipIf(isQuestDbMissing)('without its QuestDB', () => {
  test('the service starts, takes readings and decides; what waits is stored once it is there', async () => {
    await using questDb = await QuestDb.start()
    await questDb.stop()
    await using service = await ServiceWithQuestDb.start(questDb.port)

    await service.load.send()
    await service.refuseOne()
    await expect.poll(() => service.failing()).toHaveProperty('store')
    await expect.poll(() => service.quarantined()).toBe(1)
    const { status, body } = await service.api.withToken<{ error: string }>(
      'GET',
      `/streams/${service.streamId}/data`,
    )
    expect([status, body.error]).toEqual([503, 'store_unavailable'])

    await questDb.start()

    await service.allStored({ refused: 1, duplicates: 0 })
    await expect.poll(() => service.failing()).toEqual({})
  })

  test('the service ends in time, and goes on with it later', async () => {
    await using questDb = await QuestDb.start()
    await using service = await ServiceWithQuestDb.start(questDb.port)
    await service.load.send()
    await questDb.kill()
    await service.load.send()
    await expect.poll(() => service.failing()).toHaveProperty('store')

    await service.restart()
    await questDb.start()

    await service.allStored({ refused: 0, duplicates: 0 })
  })
})

describe.skipIf(isQuestDbMissing)('a QuestDB that is killed again and again in mid-flush', () => {
  test('gets every reading once, and holds up neither receipts nor decisions', async () => {
    await using questDb = await QuestDb.start()
    await using proxy = await TcpProxy.start(questDb.port)
    await using service = await ServiceWithQuestDb.start(proxy.port)
    service.load.start()
    for (let kill = 0; kill < kills; kill++) {
      const stored = await service.stored()
      await expect.poll(() => service.stored()).toBeGreaterThan(stored)
      // Rows are on their way, or have come and were not confirmed.
      proxy.holdIn('POST /write', kill % 2)
      await expect.poll(() => proxy.isHolding).toBe(true)
      await questDb.kill()
      proxy.reset()
      const sent = service.load.sent
      await service.refuseOne()
      await expect.poll(() => service.quarantined()).toBe(kill + 1)
      await expect.poll(() => service.load.sent).toBeGreaterThan(sent)
      await questDb.start()
    }
    await service.load.stop()

    await service.allStored({ refused: kills, duplicates: 0 })
    await expect.poll(() => service.failing()).toEqual({})
  })
})

describe.skipIf(isQuestDbMissing)('a network that resets connections', () => {
  test('costs no reading and doubles none, and duplicates are counted as such', async () => {
    await using questDb = await QuestDb.start()
    await using proxy = await TcpProxy.start(questDb.port)
    await using service = await ServiceWithQuestDb.start(proxy.port)
    await service.load.send()
    service.load.start()
    for (let reset = 0; reset < resets; reset++) {
      // At another place of what goes on each time, and often enough to hit it in the middle.
      await sleep(20 + 7 * (reset % 11))
      proxy.reset()
    }
    await service.load.stop()
    const repeated = await service.repeatAll()

    await service.allStored({ refused: 0, duplicates: repeated })
  })
})
