import { beforeAll, describe, expect, test } from 'vitest'
import { TestFleet } from '../support/fleets.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

/** What no device can be called. */
const unfit = ['x'.repeat(129), ' ', 'a\nb', '\u0085', '\u0000', '😀'.repeat(65)]

/** What looks dangerous, and is a name like any other. */
const odd = [
  '__proto__',
  'constructor',
  "a'; DROP TABLE fleets;--",
  'a/b',
  '%',
  '+',
  'é',
  'e\u0301',
]

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api, { foreignTopics: 'ignore' })
  vaultId = await vaultOf(ada)
})

async function namesOf(fleet: TestFleet): Promise<readonly string[]> {
  return (await fleet.devices('limit=100')).map(({ name }) => name).sort()
}

describe('the name of a device', () => {
  test('in an address is one that a device can have', async () => {
    const fleet = await TestFleet.make(ada, vaultId)
    const sendAs = async (name: string) => {
      const path = `${fleet.path}/devices/${encodeURIComponent(name)}/data`
      return (await ada.withToken('POST', path, { temperature: 1 })).status
    }

    expect(await Promise.all(unfit.map(sendAs))).toEqual(unfit.map(() => 400))
    expect(await Promise.all(odd.map(sendAs))).toEqual(odd.map(() => 202))

    expect(await namesOf(fleet)).toEqual([...odd].sort())
  })

  test('in a reading is one that a device can have', async () => {
    const definition = {
      type: 'iot_sensor',
      source: { deviceField: 'host' },
      schema: { temperature: { type: 'number' } },
    }
    const fleet = await TestFleet.make(ada, vaultId, { definition })
    const readings = [...unfit, ...odd].map((host) => ({ host, temperature: 1 }))

    const { body } = await ada.withToken<{ rejected: readonly { index: number }[] }>(
      'POST',
      `${fleet.path}/data`,
      readings,
    )

    expect(body.rejected.map(({ index }) => index)).toEqual(unfit.map((_, index) => index))
    expect(await namesOf(fleet)).toEqual([...odd].sort())
  })
})

test('an empty retained message is no reading, and makes no stream', async () => {
  const fleet = await TestFleet.make(ada, vaultId)
  const { mqtt } = await connect(ada.key)

  await mqtt.publishAsync(fleet.topicOf('gone'), '', { qos: 1, retain: true })
  await fleet.publish(mqtt, 'here', { temperature: 1 })

  expect(await namesOf(fleet)).toEqual(['here'])
})
