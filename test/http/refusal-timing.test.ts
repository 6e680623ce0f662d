import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { superiority } from '../support/superiority.ts'
import { vaultOf } from '../support/vault-of.ts'

// One address would soon be answered 429: each attempt comes from another.
const service = runningService({ STREAMVAULT_TRUST_PROXY: '127.0.0.1' })
const tries = 2_000
let addresses = 0

test('an unknown key and a wrong secret are not told apart by the time of 2,000 answers', async () => {
  const ada = await newPerson(service.api)
  const refuse = async (apiKey: string): Promise<number> => {
    const address = `10.0.${++addresses >> 8}.${addresses & 255}`
    const headers = { 'x-api-key': apiKey, 'x-api-secret': 'wrong', 'x-forwarded-for': address }
    const startedMs = performance.now()
    const { status } = await service.api.request('GET', '/vaults', { headers })
    const tookMs = performance.now() - startedMs
    expect(status).toBe(401)
    return tookMs
  }
  const unknown = 'sv_test_000000000000000000000000'
  for (let count = 0; count < 200; count++) await refuse(count % 2 === 0 ? ada.key.apiKey : unknown)

  const times = { known: [] as number[], unknown: [] as number[] }
  for (let count = 0; count < tries; count++) {
    const order =
      count % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
    for (const which of order) {
      times[which].push(await refuse(which === 'known' ? ada.key.apiKey : unknown))
    }
  }

  const share = superiority(times.known, times.unknown)
  expect(share).toBeGreaterThan(0.43)
  expect(share).toBeLessThan(0.57)
})

test('a private vault of somebody else and an unknown id are not told apart by the time of 2,000 answers', async () => {
  const { withKey } = await newPerson(service.api)
  const ada = await newPerson(service.api)
  const foreign = await vaultOf(ada, { public: false })
  const paths = { foreign: `/vaults/${foreign}`, unknown: `/vaults/${randomUUID()}` }
  const refuse = async (path: string): Promise<number> => {
    const startedMs = performance.now()
    const { status } = await withKey('GET', path)
    const tookMs = performance.now() - startedMs
    expect(status).toBe(404)
    return tookMs
  }
  for (let count = 0; count < 400; count++) await refuse(paths.foreign)

  const times = { foreign: [] as number[], unknown: [] as number[] }
  for (let count = 0; count < tries; count++) {
    const order =
      count % 2 === 0 ? (['foreign', 'unknown'] as const) : (['unknown', 'foreign'] as const)
    for (const which of order) times[which].push(await refuse(paths[which]))
  }

  const share = superiority(times.foreign, times.unknown)
  expect(share).toBeGreaterThan(0.43)
  expect(share).toBeLessThan(0.57)
})
