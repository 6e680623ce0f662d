import { describe, expect, test } from 'vitest'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { ServiceWithQuestDb } from '../../support/service-with-questdb.ts'

describe.skipIf(isQuestDbMissing)('when the machine of QuestDB loses power', () => {
  test('it gets again what it has lost, without another reading, and then what has come since', async () => {
    await using questDb = await QuestDb.start()
    await using service = await ServiceWithQuestDb.start(questDb.port)
    await service.load.send()
    await service.refuseOne()
    await service.allStored({ refused: 1, duplicates: 0 })
    await questDb.keepDisk()
    for (let sent = 0; sent < 20; sent++) await service.load.send()
    const removed = new Set([7, 100])
    for (const number of removed) await service.remove(number)
    await service.load.send()
    await service.allStored({ refused: 1, duplicates: 0, removed })

    await questDb.losePower()

    await service.allStored({ refused: 1, duplicates: 0, removed })
    await service.load.send()
    await service.allStored({ refused: 1, duplicates: 0, removed })
    await expect.poll(() => service.failing()).toEqual({})
  })

  test('and with it what the journal has no more, the service is not ready and says why', async () => {
    await using questDb = await QuestDb.start()
    // Few enough bytes that the disk has to prove what it has before the next shipment.
    const settings = { STREAMVAULT_QUESTDB_HELD_MAX: '1' }
    await using service = await ServiceWithQuestDb.start(questDb.port, settings)
    await service.load.send()
    await service.allStored({ refused: 0, duplicates: 0 })
    await questDb.keepDisk()
    for (let sent = 0; sent < 3; sent++) {
      await service.load.send()
      await service.allStored({ refused: 0, duplicates: 0 })
    }

    await questDb.losePower()

    await expect
      .poll(() => service.failing())
      .toMatchObject({ store: expect.stringContaining('Put back the newest copy') as string })
  })
})
