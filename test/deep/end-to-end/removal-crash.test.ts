import { describe, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { isQuestDbMissing } from '../../support/questdb.ts'
import { type Rounds, undisturbed, withKilledQuestDb } from '../../support/questdb-kills.ts'
import { at } from '../../support/seconds.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

/** Readings are told by their second; a few only, so that removals and repetitions meet. */
const seconds = 40

class Ledger {
  there = new Set<number>()
  received = 0
  stored = 0
  deleted = 0

  push(sent: readonly number[]): void {
    for (const second of sent) {
      this.received++
      if (!this.there.has(second)) this.stored++
      this.there.add(second)
    }
  }

  remove(from: number, to: number): void {
    for (const second of this.there) {
      if (second >= from && second < to && this.there.delete(second)) this.deleted++
    }
  }
}

test('readings and removals survive kills at any moment, in their order and exactly once', async () => {
  await killedInRounds(undisturbed)
})

describe.skipIf(isQuestDbMissing)('with QuestDB', () => {
  test('readings and removals survive kills of the service and of QuestDB, exactly once', async () => {
    await withKilledQuestDb(killedInRounds)
  })
})

async function killedInRounds({ environment, meanwhile }: Rounds): Promise<void> {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_260_131)
  const numberBelow = (limit: number) => random.integer(0, limit - 1)
  let process = await services.start(dataDir, environment)
  let api = new ApiClient(process.http)
  const streamId = await api.createStream()
  const path = `/streams/${streamId}/data`
  const ledger = new Ledger()

  for (let round = 0; round < 12; round++) {
    for (let steps = numberBelow(4); steps >= 0; steps--) {
      const sent = Array.from({ length: 1 + numberBelow(15) }, () => numberBelow(seconds))
      const body = sent.map((second) => ({ timestamp: at(second), temperature: second }))
      expect((await api.withToken('POST', path, body)).status).toBe(202)
      ledger.push(sent)
      const from = numberBelow(seconds)
      const to = from + numberBelow(seconds - from)
      const range = `?start=${at(from)}&end=${at(to)}`
      const removal = api.withToken('DELETE', path + range)
      // One that is not waited for may be cut off by the kill: then it is durable, or was never said.
      const isCutOff = steps === 0 && random.chance(0.5)
      if (isCutOff) {
        await Promise.race([removal.catch(() => undefined), api.status(streamId)])
        await process.end('SIGKILL')
        const answered = await removal.then(
          ({ status }) => status,
          () => undefined,
        )
        process = await services.start(dataDir, environment)
        api = new ApiClient(process.http)
        await api.settled(streamId, ledger.received)
        // Empty, and behind everything else: once it is done, so is whatever was durable.
        const nothing = `?start=${at(0)}&end=${at(0)}`
        expect((await api.withToken('DELETE', path + nothing)).status).toBe(204)
        const { deleted } = ledger
        const before = [...ledger.there]
        ledger.remove(from, to)
        const counted = (await api.status(streamId))['deleted']
        if (answered === undefined && counted === deleted) {
          ledger.there = new Set(before)
          ledger.deleted = deleted
        }
      } else {
        expect((await removal).status).toBe(204)
        ledger.remove(from, to)
      }
    }
    await meanwhile(round)
    if (round % 3 === 2) {
      await process.end('SIGKILL')
      process = await services.start(dataDir, environment)
      api = new ApiClient(process.http)
    }

    const counters = await api.settled(streamId, ledger.received)
    const { received, stored, deleted } = ledger
    expect(counters).toMatchObject({ received, stored, duplicates: received - stored, pending: 0 })
    expect((await api.status(streamId))['deleted']).toBe(deleted)
    const there = (await api.readAll(streamId)).map(({ temperature }) => temperature)
    expect(there).toEqual([...ledger.there].sort((left, right) => left - right))
  }
}
