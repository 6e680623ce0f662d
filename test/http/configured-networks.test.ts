import { expect, test } from 'vitest'
import { atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { newPerson, personOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { startedServices } from '../support/started-services.ts'

/** Nobody listens there. */
const endpoint = 'http://127.0.0.1:1/with-a-token'

const anchoring = { STREAMVAULT_ANCHORING: 'on' }
const configured = {
  ...anchoring,
  STREAMVAULT_LEDGER_XRPL: endpoint,
  STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:1234',
}

const service = runningService(configured)
const services = startedServices()

interface Readiness {
  readonly status: string
  readonly degraded: Readonly<Record<string, string>>
}

const readiness = async (api: ApiClient) =>
  (await api.request<Readiness>('GET', '/health/ready')).body

test('what a live key makes waits for its network, which is named until it can be reached', async () => {
  const owner = { ...(await newPerson(service.api, { kind: 'live' })), base: service.api.base }
  const id = await makers.vaults(owner)
  await atStatus(owner, `/vaults/${id}`, 'METADATA_STORED')
  const { body } = await owner.withKey<{ network: string }>('GET', `/vaults/${id}/proof`)
  expect(body.network).toBe('xrpl:1234')
  await expect
    .poll(async () => (await readiness(service.api)).degraded)
    .toHaveProperty(['ledger xrpl:1234'])
  const { status, degraded } = await readiness(service.api)
  expect(status).toBe('ready')
  expect(JSON.stringify(degraded)).not.toContain('token')
  // Nothing holds up what goes elsewhere.
  expect(Object.keys(degraded)).toEqual(['ledger xrpl:1234'])
  expect(service.process.output()).not.toContain('with-a-token')
})

test('what a test key makes gets onto the sandbox all the same', async () => {
  const person = await newPerson(service.api)
  const owner = { ...person, base: service.api.base }
  const id = await makers.vaults(owner)
  await atStatus(owner, `/vaults/${id}`, 'COMPLETED')
})

test('what waits for a network that is not configured any more is named as well', async () => {
  const dataDir = services.newFolder()
  const before = await services.start(dataDir, configured)
  const api = new ApiClient(before.http)
  const owner = { ...(await newPerson(api, { kind: 'live' })), base: api.base }
  const id = await makers.vaults(owner)
  await before.end('SIGTERM')

  const after = new ApiClient((await services.start(dataDir, anchoring)).http)

  const { degraded } = await readiness(after)
  expect(degraded).toHaveProperty(['ledger xrpl:1234'], expect.stringMatching(/no endpoint/))
  const person = { withKey: personOf(after, owner.key).withKey }
  await atStatus(person, `/vaults/${id}`, 'METADATA_STORED')
})
