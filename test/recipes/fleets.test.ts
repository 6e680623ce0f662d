import { describe, expect, test } from 'vitest'
import { mqttClients } from '../support/mqtt-clients.ts'
import type { MadeKey } from '../support/people.ts'
import { snapped, writeRequest } from '../support/prometheus/remote-write-bodies.ts'
import { runningService } from '../support/running-service.ts'
import { seriesOfText } from './exposed-samples.ts'
import { followFleet, newFleet, newFleetKey, type OpenFleet } from './followed-fleet.ts'
import { recipes } from './index.ts'
import { type Front, isOfFleet, type SentMessage } from './recipe.ts'
import type { RecipeDefinition } from './recipe-page.ts'
import { shellyGen2 } from './shelly-gen2.ts'

/** Recipes of many devices with one definition. */

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

/** The name of a fleet, which the clients of some protocols name in their addresses. */
const fleetNames: Partial<Record<Front, string>> = { influx: 'esp', 'remote-write': 'hosts' }

type Sender = (key: MadeKey, fleet: { readonly fleetId: string; readonly name: string }) => Send

type Send = (message: SentMessage) => Promise<void>

const senders: Partial<Record<Front, Sender>> = {
  mqtt: (key) => {
    const client = connect(key)
    return async ({ topic = '', payload, isRetained = false }) => {
      const { mqtt } = await client
      await mqtt.publishAsync(topic, payload, { qos: 0, retain: isRetained })
    }
  },

  http: ({ apiKey, apiSecret }, { fleetId }) => {
    const own = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    return async ({ payload, headers = {} }) => {
      const answer = await service.api.request('POST', `/fleets/${fleetId}/data`, {
        headers: { ...headers, ...own },
        body: payload,
      })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 202 })
    }
  },

  influx: ({ apiKey, apiSecret }, { name }) => {
    return async ({ payload, headers = {}, query = '' }) => {
      const path = `/api/v2/write?org=home&bucket=${name}&precision=s${query}`
      const answer = await service.api.request('POST', path, {
        headers: { ...headers, authorization: `Token ${apiKey}:${apiSecret}` },
        body: payload,
      })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 204 })
    }
  },

  'remote-write': ({ apiKey, apiSecret }, { name }) => {
    const basic = Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')
    return async ({ payload, headers = {} }) => {
      const response = await fetch(`${service.api.base}/api/v1/write?fleet=${name}`, {
        method: 'POST',
        headers: {
          ...headers,
          authorization: `Basic ${basic}`,
          'content-encoding': 'snappy',
          'content-type': 'application/x-protobuf',
          'x-prometheus-remote-write-version': '0.1.0',
        },
        body: Uint8Array.from(snapped(writeRequest(seriesOfText(payload)))),
      })
      expect({ status: response.status, text: await response.text() }).toEqual({
        status: 204,
        text: '',
      })
    }
  },
}

async function open(front: Front, definition: RecipeDefinition): Promise<OpenFleet> {
  const fleet = await newFleet(service.api, definition, fleetNames[front])
  const send = senders[front]?.(await newFleetKey(service.api), fleet)
  if (send === undefined) throw new Error(`nothing sends to a fleet by ${front}`)
  return {
    ...fleet,
    async send(messages) {
      for (const message of messages) await send(message)
    },
  }
}

describe('sent to a fleet', () => {
  test.each(recipes.filter(isOfFleet))('$name', async (recipe) => {
    await followFleet(service.api, recipe, (definition) => open(recipe.front, definition))
  })
})

describe('the page of one device, with {device} in its topic,', () => {
  test('is that of a fleet: shelly-gen2', async () => {
    const recipe = { ...shellyGen2, device: () => 'shellyplus1pm-a8032abe54dc' }
    await followFleet(service.api, recipe, (definition) => {
      const source = { ...definition.source, topic: '{device}/events/rpc' }
      return open(recipe.front, { ...definition, source })
    })
  })
})
