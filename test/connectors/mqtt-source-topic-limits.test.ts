import { expect, test } from 'vitest'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, received, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const streamsPerMessageMax = 16
const topicsPerUserMax = 5_000

async function definitionOn(person: Person, topic: string) {
  const schema = { level: { type: 'number' } }
  return { vaultId: await vaultOf(person), type: 'iot_sensor', source: { topic }, schema }
}

/** Makes streams of one definition, in as few requests as can be. */
async function makeStreams(person: Person, topic: string, count: number): Promise<string[]> {
  const definition = await definitionOn(person, topic)
  const ids: string[] = []
  while (ids.length < count) {
    const streams = Array.from({ length: Math.min(1_000, count - ids.length) }, (_, index) => ({
      name: `pump ${ids.length + index}`,
    }))
    const { body } = await person.withToken<{ streams: { streamId: string }[] }>(
      'POST',
      '/streams/bulk',
      { definition, streams },
    )
    ids.push(...body.streams.map(({ streamId }) => streamId))
  }
  return ids
}

test('a message goes to the 16 streams with the lowest ids', async () => {
  const ada = await newPerson(service.api)
  const ids = await makeStreams(ada, 'factory/+', streamsPerMessageMax + 2)
  const { mqtt } = await connect(ada.key)

  await mqtt.publishAsync('factory/7', '{"level": 1}', { qos: 1 })

  const counts = await Promise.all(ids.toSorted().map((id) => received(ada, id)))
  expect(counts).toEqual([...Array(streamsPerMessageMax).fill(1), 0, 0])
})

test('a user has 5,000 streams with a topic, and another when one of them goes', async () => {
  const ada = await newPerson(service.api)
  const [first = ''] = await makeStreams(ada, 'factory/+', topicsPerUserMax)
  const another = { ...(await definitionOn(ada, 'cellar/+')), name: 'another' }
  const create = () =>
    ada.withToken<{ error: string; message: string }>('POST', '/streams', another)

  const refused = await create()
  await ada.withToken('DELETE', `/streams/${first}`)
  const taken = await create()

  expect(refused).toMatchObject({ status: 409, body: { error: 'conflict' } })
  expect(refused.body.message).toContain('5000 streams with a source.topic')
  expect(taken.status).toBe(201)
})

test('a stream gets no topic by a change either when its user has 5,000', async () => {
  const ada = await newPerson(service.api)
  await makeStreams(ada, 'factory/+', topicsPerUserMax)
  const { source: _, ...plain } = await definitionOn(ada, '')
  const { body } = await ada.withToken<{ streamId: string }>('POST', '/streams', {
    ...plain,
    name: 'plain',
  })

  const { status } = await ada.withToken('PUT', `/streams/${body.streamId}`, {
    source: { topic: 'cellar/+' },
  })

  expect(status).toBe(409)
})

test('many at once are made all or none when there is no room for all of them', async () => {
  const ada = await newPerson(service.api)
  await makeStreams(ada, 'factory/+', topicsPerUserMax - 1)
  const definition = await definitionOn(ada, 'cellar/+')
  const streams = [{ name: 'one' }, { name: 'other' }]

  const { status } = await ada.withToken('POST', '/streams/bulk', { definition, streams })

  expect(status).toBe(409)
  expect(await makeStreams(ada, 'cellar/+', 1)).toHaveLength(1)
})
