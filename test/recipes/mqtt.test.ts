import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { MadeDevice } from '../support/devices.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { runningService } from '../support/running-service.ts'
import { followRecipe, type OpenFront } from './followed-recipe.ts'
import { recipes } from './index.ts'
import { isOfFleet, type SentMessage } from './recipe.ts'
import type { RecipeDefinition } from './recipe-page.ts'

/** Recipes of devices that publish to our broker, or to one that we subscribe to. */

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
const connect = mqttClients(() => service.process.mqttPort)
let broker: Mosquitto

beforeAll(async () => {
  broker = await Mosquitto.start([], port)
})

afterAll(async () => {
  await broker[Symbol.asyncDispose]()
})

async function toOurBroker({ schema, ...rest }: RecipeDefinition): Promise<OpenFront> {
  const streamId = await service.api.createStream(schema, rest)
  const device = await service.api.withToken<MadeDevice>('POST', '/devices', {
    name: 'a device',
    streamIds: [streamId],
    foreignTopics: 'ignore',
  })
  const { mqtt } = await connect(device.body)
  const publish = async ({ topic = '', payload, isRetained = false }: SentMessage) => {
    await mqtt.publishAsync(topic, payload, { qos: 0, retain: isRetained })
  }
  return { streamId, send: inTurn(publish) }
}

async function toAnotherBroker({ schema, ...rest }: RecipeDefinition): Promise<OpenFront> {
  const source = { ...rest.source, endpoint: broker.endpoint }
  const streamId = await service.api.createStream(schema, { ...rest, source })
  await expect
    .poll(async () => (await service.api.status(streamId))['source'])
    .toMatchObject({ state: 'running' })
  const mqtt = await broker.client()
  const publish = async ({ topic = '', payload, isRetained = false }: SentMessage) => {
    await mqtt.publishAsync(topic, payload, { qos: 1, retain: isRetained })
  }
  return { streamId, send: inTurn(publish) }
}

function inTurn(publish: (message: SentMessage) => Promise<void>): OpenFront['send'] {
  return async (messages) => {
    for (const message of messages) await publish(message)
  }
}

describe('published to our broker', () => {
  const ours = recipes.filter((recipe) => recipe.front === 'mqtt' && !isOfFleet(recipe))
  test.each(ours)('$name', async (recipe) => {
    await followRecipe(service.api, recipe, toOurBroker)
  })
})

describe('published to a broker of somebody else', () => {
  test.each(recipes.filter(({ front }) => front === 'broker'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, toAnotherBroker)
  })
})
