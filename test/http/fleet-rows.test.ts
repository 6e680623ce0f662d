import { beforeAll, describe, expect, test } from 'vitest'
import { TestFleet } from '../support/fleets.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let ada: Person
let vaultId = ''
let token = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  vaultId = await vaultOf(ada)
  token = await ada.token()
})

function definitionBy(deviceField: string | undefined) {
  const source = deviceField === undefined ? {} : { deviceField }
  return { type: 'iot_sensor', source, schema: { f: { type: 'number' } } }
}

async function post(path: string, type: string, body: Uint8Array | string) {
  const response = await fetch(service.api.base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body,
  })
  return { status: response.status, text: await response.text() }
}

/** As many points of one device as there are to be. */
function pointsOf(count: number): string {
  const dataPoints = Array.from({ length: count }, (_, index) => ({ asDouble: index }))
  const attributes = [{ key: 'host', value: { stringValue: 'many' } }]
  const metrics = [{ name: 'f', gauge: { dataPoints } }]
  return JSON.stringify({
    resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }],
  })
}

describe('a message with more than 10,000 rows of one device', () => {
  test('is refused as one that is too large, before anything of it is kept', async () => {
    const fleet = await TestFleet.make(ada, vaultId, { definition: definitionBy('host') })
    const lines = Array.from({ length: 10_001 }, (_, index) => `m,host=many f=${index}`)

    const written = await post(`/write?fleet=${fleet.id}`, 'text/plain', lines.join('\n'))
    const exported = await post(
      `/v1/metrics?fleet=${fleet.id}`,
      'application/json',
      pointsOf(10_001),
    )

    expect([written.status, exported.status]).toEqual([413, 413])
    expect(await fleet.devices()).toEqual([])
  })
})

test('lines of a device that cannot be read together are each counted as refused', async () => {
  const fleet = await TestFleet.make(ada, vaultId, { definition: definitionBy('host') })
  const lines = ['\uFEFFm,host=marked f=1', 'm,host=other f=1', 'm,host=marked f=2']

  const { status, text } = await post(`/write?fleet=${fleet.id}`, 'text/plain', lines.join('\n'))

  expect(status).toBe(400)
  expect(text).toContain('line 3: it begins with a byte order mark dropped=2 of 3')
})

test('lines name no device in a fleet without a deviceField', async () => {
  const fleet = await TestFleet.make(ada, vaultId, { definition: definitionBy(undefined) })

  const { status, text } = await post(`/write?fleet=${fleet.id}`, 'text/plain', 'm,=x f=1\nm f=1')

  expect(status).toBe(400)
  expect(text).toContain('dropped=2 of 2')
  expect(await fleet.devices()).toEqual([])
})
