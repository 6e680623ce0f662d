import { CloudEvent, HTTP } from 'cloudevents'
import { describe, expect, test } from 'vitest'
import { createFleet, type ProtocolFleet, readingsByDevice } from '../support/protocol-fleet.ts'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

/** CloudEvents of the SDK of CNCF, of many devices. */

const service = runningService()
const { post } = bodiesTo(service)

const schema = { temperature: { type: 'number' } }
let made = 0

async function fleetBy(deviceField: string): Promise<ProtocolFleet> {
  const source = { format: 'cloudevents' }
  return await createFleet(service.api, { name: `plants ${++made}`, deviceField, schema, source })
}

function eventOf(device: string, second: number) {
  return new CloudEvent({
    type: 'boiler.measured',
    source: `/plants/${device}`,
    subject: device,
    time: `2026-01-31T09:00:0${second}.000Z`,
    data: { temperature: second, boiler: device },
  })
}

async function send(
  { fleetId }: ProtocolFleet,
  { headers, body }: { readonly headers: object; readonly body: unknown },
) {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const all = Object.fromEntries(texts) as Record<string, string>
  return await post(`/fleets/${fleetId}/data`, all, String(body))
}

describe.each([
  ['the attribute source', 'source', '/plants/'],
  ['the attribute subject', 'subject', ''],
  ['a member of the data', 'data.boiler', ''],
])('%s names the device', (_, deviceField, prefix) => {
  test('in structured and in binary mode, and in a batch', async () => {
    const fleet = await fleetBy(deviceField)
    const structured = await send(fleet, HTTP.structured(eventOf('a', 1)))
    const binary = await send(fleet, HTTP.binary(eventOf('b', 2)))
    const batch = await post(
      `/fleets/${fleet.fleetId}/data`,
      { 'content-type': 'application/cloudevents-batch+json' },
      JSON.stringify([eventOf('a', 3), eventOf('c', 4)]),
    )

    expect([structured.status, binary.status, batch.status], batch.text).toEqual([202, 202, 202])
    const readings = await readingsByDevice(service.api, fleet)
    const found = [...readings].map(([device, rows]) => [
      device,
      rows.map(({ temperature }) => temperature),
    ])
    expect(new Map(found as [string, unknown][])).toEqual(
      new Map([
        [`${prefix}a`, [1, 3]],
        [`${prefix}b`, [2]],
        [`${prefix}c`, [4]],
      ]),
    )
  })
})
