import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NotProven } from '../../../src/storage/time-series/questdb/durability.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { shipmentOf, storedReading } from '../../support/stored-readings.ts'
import { heldBytesMax, Written } from '../../support/written-to-questdb.ts'

describe.skipIf(isQuestDbMissing)('what QuestDB has taken', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  test('is kept in the journal until it is on the disk of QuestDB, through a restart of ours', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading(), storedReading()])
    await written.reopen()
    expect(written.writer.durability.keptFrom()).toBe(0)

    await written.repeat()
    await written.writer.durability.prove()

    expect(written.writer.durability.keptFrom()).toBe(2)
    expect(await checkpoint(questDb)).toBe(false)
  })

  test('is not sent again over a new connection to the same process', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.reopen()

    expect(await written.repeat()).toBe(0)
  })

  test('is proven again once somebody has released a checkpoint of his own', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.run('CHECKPOINT CREATE')

    await written.writer.durability.prove()
    expect(written.writer.durability.keptFrom()).toBe(0)
    await written.reopen()
    await written.repeat()
    expect(await checkpoint(questDb)).toBe(true)

    await written.run('CHECKPOINT RELEASE')
    await written.writer.durability.prove()
    expect(written.writer.durability.keptFrom()).toBe(1)
  })

  test('is held back within a limit: beyond it nothing is stored that cannot be proven', async () => {
    await using written = new Written(questDb)
    await written.writer.write({ ...shipmentOf([storedReading()], 0), bytes: heldBytesMax })
    await written.run('CHECKPOINT CREATE')
    const next = shipmentOf([storedReading()], 1)

    await expect(written.writer.write(next)).rejects.toThrow(NotProven)
    expect(written.writer.durability.heldBytes()).toBe(heldBytesMax)
    await written.run('CHECKPOINT RELEASE')
    await written.writer.write(next)

    expect(written.writer.durability.heldBytes()).toBe(0)
    expect(written.writer.durability.keptFrom()).toBe(1)
  })

  test('leaves no checkpoint behind when we end in the middle of one', async () => {
    await using written = new Written(questDb)
    await written.ship([storedReading()])
    await written.dyingInCheckpoint()
    expect(await checkpoint(questDb)).toBe(true)

    await written.repeat()

    expect(await checkpoint(questDb)).toBe(false)
  })
})

describe.skipIf(isQuestDbMissing)('what a QuestDB has taken that writes before it answers', () => {
  test('needs no place in the journal', async () => {
    await using questDb = await QuestDb.start(['cairo.commit.mode=sync'])
    await using written = new Written(questDb)
    await written.ship([storedReading()])

    expect(written.writer.durability.keptFrom()).toBe(1)
    await questDb.kill()
    await questDb.start()
    expect(await written.repeat()).toBe(0)
  })
})

async function checkpoint(questDb: QuestDb): Promise<unknown> {
  const connection = questDb.connection()
  const { rows } = await connection.run('SELECT in_progress FROM checkpoint_status()')
  connection.close()
  return rows[0]?.[0]
}
