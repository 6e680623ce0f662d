import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ApiServer } from '../support/api-server.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { runningService } from '../support/running-service.ts'
import { followRecipe, type OpenFront } from './followed-recipe.ts'
import { recipes } from './index.ts'
import type { SentMessage } from './recipe.ts'
import type { RecipeDefinition } from './recipe-page.ts'

/** Recipes of servers that are asked. */

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:1024-65535' })

/** Once a year: a round is run when a test says so. */
const rarely = '0 0 1 1 *'

const servers: ApiServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
})

/** An API that answers with one message after the other, one in each round. */
async function fromApi({ schema, ...rest }: RecipeDefinition): Promise<OpenFront> {
  let asked: PromiseWithResolvers<void> | undefined
  let next: SentMessage = { payload: '' }
  const server = await ApiServer.start((_, answer) => {
    answer.writeHead(200, next.headers)
    answer.end(next.payload)
    asked?.resolve()
  })
  servers.push(server)
  const { pathname, search } = new URL(String(rest.source['endpoint']).replaceAll('${', '{'))
  const address = server.origin + decodeURI(pathname) + decodeURI(search).replaceAll('{', '${')
  const source = { ...rest.source, endpoint: address.replaceAll(' ', '%20'), schedule: rarely }
  const streamId = await service.api.createStream(schema, { ...rest, source })
  const run = async () =>
    (await service.api.withToken('POST', `/streams/${streamId}/source/run`)).status
  return {
    streamId,
    async send(messages) {
      for (const message of messages) {
        next = message
        asked = Promise.withResolvers()
        await expect.poll(run).toBe(202)
        await asked.promise
      }
    },
  }
}

describe('asked over HTTP', () => {
  test.each(recipes.filter(({ front }) => front === 'api'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, fromApi)
  })
})

describe.skipIf(isKafkaMissing)('read from Kafka', () => {
  let kafka: Kafka

  beforeAll(async () => {
    kafka = await Kafka.start()
  })

  afterAll(async () => {
    await kafka[Symbol.asyncDispose]()
  })

  async function fromKafka({ schema, ...rest }: RecipeDefinition): Promise<OpenFront> {
    await kafka.createTopic(String(rest.source['topic']), 1)
    const source = { ...rest.source, endpoint: kafka.endpoint }
    const streamId = await service.api.createStream(schema, { ...rest, source })
    return {
      streamId,
      async send(messages) {
        const [{ topic = '' } = {}] = messages
        const all = messages.map(({ payload, key }) => ({
          value: Buffer.from(payload),
          ...(key !== undefined && { key }),
        }))
        await kafka.produce(topic, all)
      },
    }
  }

  test.each(recipes.filter(({ front }) => front === 'kafka'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, fromKafka)
  })
})
