import { beforeAll, describe, expect, test } from 'vitest'
import { newDevice } from '../support/devices.ts'
import { createKey, type MadeKey, newPerson } from '../support/people.ts'
import { deviceField, type ProtocolDoor, protocolDoors } from '../support/protocol-doors.ts'
import {
  createFleet,
  type ProtocolFleet,
  provisioningKey,
  readingsByDevice,
  registeredDevice,
} from '../support/protocol-fleet.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Who may write into a fleet by the protocol of another service. */

const service = runningService()

type Key = Pick<MadeKey, 'apiKey' | 'apiSecret'>

const owner: Key = { apiKey: adminKey, apiSecret: adminSecret }
let fleet: ProtocolFleet
let other: ProtocolFleet
let made = 0

beforeAll(async () => {
  fleet = await newFleet()
  other = await newFleet()
})

async function newFleet(): Promise<ProtocolFleet> {
  return await createFleet(service.api, { name: `plant ${++made}`, deviceField })
}

interface Sent {
  readonly fleet?: string
  readonly devices?: readonly string[]
}

async function send(door: ProtocolDoor, key: Key | undefined, sent: Sent = {}) {
  const basic = `Basic ${Buffer.from(`${key?.apiKey}:${key?.apiSecret}`).toString('base64')}`
  const answer = await fetch(service.process.http + door.path(sent.fleet), {
    method: 'POST',
    headers: { ...door.headers, ...(key && { authorization: basic }) },
    body: door.body(sent.devices ?? ['a']),
  })
  const text = await answer.text()
  return { status: answer.status, text }
}

async function devicesOf(one: ProtocolFleet): Promise<readonly string[]> {
  return [...(await readingsByDevice(service.api, one)).keys()].toSorted()
}

describe.each(protocolDoors.map((door) => [door.name, door] as const))('%s', (_, door) => {
  async function expectRefused(status: number, key: Key | undefined, sent?: Sent): Promise<void> {
    const { text, ...answer } = await send(door, key, sent)
    expect(answer, text).toEqual({ status })
    expect(door.isRefusal(text), text).toBe(true)
  }

  async function expectStored(key: Key, sent?: Sent): Promise<void> {
    const { status, text } = await send(door, key, sent)
    expect(status, text).toBe(door.stored)
  }

  test('is open to the owner, by id and by name', async () => {
    const own = await newFleet()
    await expectStored(owner, { fleet: own.fleetId, devices: ['a', 'b'] })
    await expectStored(owner, { fleet: own.name.toUpperCase(), devices: ['c'] })

    expect(await devicesOf(own)).toEqual(['a', 'b', 'c'])
  })

  test('is 404 where nothing names a fleet, or an unknown one', async () => {
    await expectRefused(404, owner)
    await expectRefused(404, owner, { fleet: 'no such fleet' })
  })

  test('is 404 for the fleet of another user, by id and by name', async () => {
    const { key } = await newPerson(service.api)
    await expectRefused(404, key, { fleet: fleet.fleetId })
    await expectRefused(404, key, { fleet: fleet.name })
  })

  test('is 401 without credentials, and with a wrong secret', async () => {
    await expectRefused(401, undefined, { fleet: fleet.fleetId })
    await expectRefused(401, { apiKey: adminKey, apiSecret: 'wrong' }, { fleet: fleet.fleetId })
  })

  test('is 403 for a key that may only read', async () => {
    const key = await createKey(service.api, { permission: 'read_only' })
    await expectRefused(403, key, { fleet: fleet.fleetId })
  })

  test('is open to a device of the fleet, for its own rows', async () => {
    const own = await newFleet()
    const device = await registeredDevice(service.api, own, 'boiler')
    await expectStored(device, { devices: ['boiler'] })
    await expectStored(device, { fleet: own.fleetId, devices: ['boiler'] })
    const { status } = await send(door, device, { devices: ['boiler', 'pump'] })
    expect(status).toBe(door.partly)

    expect(await devicesOf(own)).toEqual(['boiler'])
    await expectRefused(404, device, { fleet: other.fleetId })
  })

  test('is 404 for a device of no fleet', async () => {
    const streamId = await service.api.createStream()
    const person = { ...owner, withKey: service.api.withKey.bind(service.api) }
    const device = await newDevice(person as never, { streamIds: [streamId] })
    await expectRefused(404, device)
    await expectRefused(404, device, { fleet: fleet.fleetId })
  })

  test('is open to the provisioning key of a fleet, for any device of it', async () => {
    const own = await newFleet()
    const key = await provisioningKey(service.api, own.vaultId, { fleetId: own.fleetId })
    await expectStored(key, { devices: ['a', 'b'] })
    await expectStored(key, { fleet: own.name, devices: ['c'] })

    expect(await devicesOf(own)).toEqual(['a', 'b', 'c'])
    await expectRefused(404, key, { fleet: other.fleetId })
  })

  test('is 403 for a provisioning key of no fleet, which registers devices only', async () => {
    const definition = { type: 'iot_sensor', schema: { value: { type: 'number' } } }
    const key = await provisioningKey(service.api, fleet.vaultId, { definition })
    await expectRefused(403, key)
    await expectRefused(403, key, { fleet: fleet.fleetId })
  })
})
