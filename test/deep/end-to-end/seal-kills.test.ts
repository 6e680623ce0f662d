import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrongAnchors } from '../../support/anchor-facts.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { unsealedIn, wrongRoots, wrongSeals } from '../../support/seal-facts.ts'
import { SeededRandom } from '../../support/seeded-random.ts'

/** Where the steps of sealing are made durable, by a part of the paths of their files. */
const places = ['journal.db', 'time-series.duckdb', 'state.db', 'ledger/chain'] as const

/** Steps of one place that are tried. */
const stepsMax = 16

/** Kills under load. */
const kills = 60

const widthUs = 900_000_000

/** Stretches that readings are of: they ended long ago. */
const stretches = 8
const firstMs = Date.parse('2026-03-01T00:00:00Z')

const random = new SeededRandom(38)
let service: FaultyService
let streams: readonly string[]

beforeAll(async () => {
  service = await FaultyService.start({
    STREAMVAULT_ANCHORING: 'on',
    STREAMVAULT_SEAL_GRACE: '200ms',
  })
  const { api } = service
  const vaultId = await api.createVault()
  const made = [0, 1, 2].map(() =>
    api.createStream(undefined, { vaultId, processing: { seal: '15m' } }),
  )
  streams = await Promise.all(made)
})

afterAll(async () => await service?.[Symbol.asyncDispose]())

describe.each(places)('sealing that is killed where it syncs %s', (place) => {
  test('leaves no stretch without a seal, and seals none twice', async () => {
    const left = new Set<string>()
    let step = 0
    while (step < stepsMax && (await killedAt(place, step, left))) step++
    expect(step).toBeGreaterThan(0)
    // What is made durable there: marks, then seals, and then the batch with its anchor.
    if (place === 'state.db') expect(left).toEqual(new Set(['mark', 'seal', 'anchor']))
  })
})

/**
 * Resolves with whether sealing came to that step.
 *
 * @param left kinds of what was left to be done by the kill
 */
async function killedAt(place: string, step: number, left: Set<string>): Promise<boolean> {
  let isSent = false
  service.faults.begin('hold-sync', place, step)
  const sending = sent().finally(() => (isSent = true))
  await service.until('the step is met, or all is sealed', async () => {
    return service.faults.isMet || (isSent && (await isAtRest()))
  })
  const { isMet } = service.faults
  await service.kill()
  await sending
  for (const one of unsealedIn(service.dataDir)) left.add(one.split(' ')[0] ?? '')
  await service.restart()
  await sealedWell()
  return isMet
}

/** New readings and late ones, and some that were there before, of any stretch and stream. */
async function sent(): Promise<void> {
  const posts = streams.map(async (streamId) => {
    const readings = Array.from({ length: 30 }, () => {
      const second = random.integer(0, stretches * 900 - 1)
      const timestamp = new Date(firstMs + second * 1_000).toISOString()
      return { timestamp, temperature: random.integer(0, 3) }
    })
    await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  })
  // What a kill interrupts is sent, or not.
  await Promise.allSettled(posts)
}

/** All gets sealed, and is sealed as it is to be. */
async function sealedWell(): Promise<void> {
  await service.until('all is sealed', isAtRest)
  const { api, dataDir } = service
  expect(wrongSeals(dataDir)).toEqual([])
  expect(wrongAnchors(dataDir)).toEqual([])
  for (const streamId of streams) {
    expect(await wrongRoots(dataDir, { api, streamId, widthUs })).toEqual([])
  }
}

/** All that is in the journal is decided and stored, and nothing waits to be sealed. */
async function isAtRest(): Promise<boolean> {
  const lags = ['decider_lag', 'shipper_lag'].map((name) => service.metric(name))
  // Where a sync is held nobody answers.
  const shown = await Promise.race([Promise.allSettled(lags), sleep(1_000)])
  const isThrough = shown?.every((one) => one.status === 'fulfilled' && one.value === 0)
  return isThrough === true && unsealedIn(service.dataDir).length === 0
}

test(`${kills} kills under load leave one seal for what is stored, in one batch`, async () => {
  for (let kill = 0; kill < kills; kill++) {
    const sending = [sent(), sent(), sent()]
    await sleep(random.integer(0, 1_500))
    await service.kill()
    await Promise.all(sending)
    await service.restart()
  }
  await sealedWell()
})
