import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noteAccess } from '../../src/outbox/events/coalesced-events.ts'
import type { Webhook } from '../../src/telling/webhooks/webhook.ts'
import { LocalDeliveries } from '../support/local-deliveries.ts'
import { answering } from '../support/receiver.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
let local: LocalDeliveries

beforeEach(async () => {
  local = await LocalDeliveries.open(receiver)
})

afterEach(async () => {
  await local[Symbol.asyncDispose]()
  expect(local.failures).toEqual([])
})

/** Whether accesses to vaults are written down for the owner. */
async function areAccessesNoted(): Promise<boolean> {
  const vault = { id: 'v1', ownerId: local.ownerId }
  return (await noteAccess(local.tests.state, vault, local.clock.atUs)) !== undefined
}

const eventTypes = ['vault.accessed', 'vault.created']

describe('events that are counted for those who ask', () => {
  test.each(['PAUSED', 'DISABLED'] as const)('are none while a webhook is %s', async (status) => {
    const webhook = await local.webhook({ url: receiver.url, eventTypes })
    expect(await areAccessesNoted()).toBe(true)
    await local.change(webhook, { status })
    expect(await areAccessesNoted()).toBe(false)
    await local.change(webhook, { eventTypes: ['vault.accessed'] })
    expect(await areAccessesNoted()).toBe(false)
    await local.change(webhook, { status: 'ACTIVE' })
    expect(await areAccessesNoted()).toBe(true)
  })

  test('are none for a webhook that begins as PAUSED, is deleted, or asks for others', async () => {
    await local.webhook({ url: receiver.url, eventTypes, status: 'PAUSED' })
    expect(await areAccessesNoted()).toBe(false)

    const deleted = await local.webhook({ url: receiver.url, eventTypes })
    await local.tests.attempt(...local.webhooks.remove(deleted))
    expect(await areAccessesNoted()).toBe(false)

    const changed = await local.webhook({ url: receiver.url, eventTypes })
    await local.change(changed, { eventTypes: ['vault.created'] })
    expect(await areAccessesNoted()).toBe(false)
  })

  test('are none once failures have disabled the webhook', async () => {
    receiver.behaviour = answering(404)
    await local.webhook({ url: receiver.url, eventTypes })
    for (let event = 0; event < 10; event++) await local.happens()
    await local.settled()
    expect(await areAccessesNoted()).toBe(false)
  })

  test('are counted for one that is ACTIVE, whatever another is', async () => {
    await local.webhook({ url: receiver.url, eventTypes, status: 'PAUSED' })
    await local.webhook({ url: receiver.url, eventTypes })
    expect(await areAccessesNoted()).toBe(true)
  })
})

async function change(before: Webhook, settings: Partial<Webhook>): Promise<boolean> {
  return await local.tests.attempt(...local.webhooks.change(before, { ...before, ...settings }))
}

describe('a change of a webhook', () => {
  test('is not made of what another has changed meanwhile', async () => {
    const before = await local.webhook({ url: receiver.url, secret: 'old' })
    expect(await change(before, { secret: 'new' })).toBe(true)
    expect(await change(before, { description: 'the boiler' })).toBe(false)
    const now = await local.read(before)
    expect(now).toMatchObject({ secret: 'new', description: null })
    expect(await change(now, { description: 'the boiler' })).toBe(true)
    expect(await local.read(before)).toMatchObject({ secret: 'new', description: 'the boiler' })
  })

  test('does not bring back what failures have disabled meanwhile', async () => {
    receiver.behaviour = answering(404)
    const before = await local.webhook({ url: receiver.url })
    for (let event = 0; event < 10; event++) await local.happens()
    await local.settled()
    expect(await change(before, { description: 'the boiler' })).toBe(false)
    expect((await local.read(before)).status).toBe('DISABLED')
  })
})
