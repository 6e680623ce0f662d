import { expect } from 'vitest'
import type { ApiClient, DataPage } from './api-client.ts'
import { asDevice, type MadeDevice } from './devices.ts'

/** Fleets that clients of other protocols write into. */

/** What stands in the readings, whatever their values: others are kept as well. */
export const metricFields = {
  metric: { type: 'string' },
  value: { type: 'number' },
} as const

interface NewFleet {
  readonly name: string
  readonly deviceField?: string
  readonly schema?: object
  readonly streamsMax?: number
  readonly source?: object
}

export interface ProtocolFleet {
  readonly fleetId: string
  readonly name: string
  readonly vaultId: string
}

export async function createFleet(
  api: ApiClient,
  { name, deviceField, schema = metricFields, source, ...rest }: NewFleet,
): Promise<ProtocolFleet> {
  const vaultId = await api.createVault()
  const where = { ...source, ...(deviceField !== undefined && { deviceField }) }
  const { status, body } = await api.withToken<{ fleetId: string }>('POST', '/fleets', {
    name,
    vaultId,
    definition: {
      type: 'iot_sensor',
      ...(Object.keys(where).length > 0 && { source: where }),
      schema,
    },
    ...rest,
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return { fleetId: body.fleetId, name, vaultId }
}

interface ListedStream {
  readonly streamId: string
  readonly name: string
}

/** The id of the stream of each device of the fleet, by the name of the device. */
export async function streamsByDevice(
  api: ApiClient,
  { vaultId }: ProtocolFleet,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let path = `/streams?vaultId=${vaultId}&limit=1000`; path !== ''; ) {
    const { body, headers }: { body: ListedStream[]; headers: Headers } = await api.withToken(
      'GET',
      path,
    )
    for (const { name, streamId } of body) {
      expect(found.has(name), `two streams of ${name}`).toBe(false)
      found.set(name, streamId)
    }
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '') ?? []
    path = next.replace(api.base, '')
  }
  return found
}

/** All readings of each device of the fleet, once nothing of them is pending. */
export async function readingsByDevice(
  api: ApiClient,
  fleet: ProtocolFleet,
): Promise<ReadonlyMap<string, DataPage['data']>> {
  const streams = await streamsByDevice(api, fleet)
  const readings = new Map<string, DataPage['data']>()
  for (const [device, streamId] of streams) {
    await api.settled(streamId)
    readings.set(device, await api.readAll(streamId))
  }
  return readings
}

/** A key that devices of a vault register with. */
export async function provisioningKey(
  api: ApiClient,
  vaultId: string,
  body: object,
): Promise<MadeDevice> {
  const path = `/vaults/${vaultId}/provisioning-keys`
  const wanted = { name: 'line 2', devicesMax: 10, ...body }
  const key = await api.withToken<MadeDevice>('POST', path, wanted)
  expect(key.status, JSON.stringify(key.body)).toBe(201)
  return key.body
}

/** Registers a device of the fleet, whose own key it then has. */
export async function registeredDevice(
  api: ApiClient,
  { fleetId, vaultId }: ProtocolFleet,
  serial: string,
): Promise<MadeDevice> {
  const key = await provisioningKey(api, vaultId, { fleetId })
  const { status, body } = await asDevice<{ device: MadeDevice }>(api, key, [
    'POST',
    '/devices/register',
    { serial },
  ])
  expect(status, JSON.stringify(body)).toBe(201)
  return body.device
}
