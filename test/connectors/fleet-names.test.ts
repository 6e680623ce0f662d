import { beforeAll, describe, expect, test } from 'vitest'
import { TestFleet } from '../support/fleets.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let ada: Person
let fleet: TestFleet
let name = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  fleet = await TestFleet.make(ada, await vaultOf(ada))
  name = (await fleet.read()).name
})

/** Requests of other protocols that have no row: what names the fleet decides their answer. */
const doors = [
  ['/write', 204, {}, ''],
  ['/api/v2/write', 204, {}, ''],
  [
    '/api/v1/write',
    204,
    { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
    Uint8Array.of(0),
  ],
  ['/v1/metrics', 200, { 'content-type': 'application/json' }, '{"resourceMetrics":[]}'],
] as const

describe.each(doors)('POST %s', (path, good, headers, body) => {
  async function status(query: string): Promise<number> {
    const authorization = `Token ${ada.key.apiKey}:${ada.key.apiSecret}`
    const { http } = service.process
    const answer = await fetch(`${http}${path}?${query}`, {
      method: 'POST',
      headers: { ...headers, authorization },
      body,
    })
    await answer.text()
    return answer.status
  }

  test.each(['fleet', 'bucket', 'db'])(
    'takes the id or the name of a fleet as %s',
    async (word) => {
      expect(await status(`${word}=${fleet.id}`)).toBe(good)
      expect(await status(`${word}=${encodeURIComponent(name.toUpperCase())}`)).toBe(good)
      expect(await status(`${word}=unknown`)).toBe(404)
      expect(await status(`${word}=`)).toBe(404)
    },
  )

  test('takes the first of fleet, bucket and db that says something', async () => {
    expect(await status(`fleet=&bucket=&db=${fleet.id}`)).toBe(good)
    expect(await status(`fleet=unknown&bucket=${fleet.id}`)).toBe(404)
    expect(await status('')).toBe(404)
  })
})
