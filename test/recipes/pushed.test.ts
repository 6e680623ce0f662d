import { describe, expect, test } from 'vitest'
import type { MadeDevice } from '../support/devices.ts'
import { runningService } from '../support/running-service.ts'
import { followRecipe, type OpenFront } from './followed-recipe.ts'
import { recipes } from './index.ts'
import { isOfFleet, type Recipe } from './recipe.ts'
import type { RecipeDefinition } from './recipe-page.ts'

/** Recipes of devices and servers that post to us. */

const service = runningService()

async function toStream(
  { credentials = 'headers' }: Recipe,
  { schema, ...rest }: RecipeDefinition,
): Promise<OpenFront> {
  const streamId = await service.api.createStream(schema, rest)
  const device = await service.api.withToken<MadeDevice>('POST', '/devices', {
    name: 'a device',
    streamIds: [streamId],
  })
  const { apiKey, apiSecret } = device.body
  const basic = Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')
  const own =
    credentials === 'basic'
      ? { authorization: `Basic ${basic}` }
      : { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  return { streamId, send: poster(`/streams/${streamId}/data`, own) }
}

interface MadeWebhook {
  readonly streamId: string
  readonly webhookUrl: string
}

async function toWebhook(definition: RecipeDefinition): Promise<OpenFront> {
  const body = { ...definition, name: 'uplinks', vaultId: await service.api.createVault() }
  const answer = await service.api.withToken<MadeWebhook>('POST', '/streams', body)
  expect(answer).toMatchObject({ status: 201 })
  const { signature, credentials } = definition.source as {
    readonly signature: { readonly header?: string }
    readonly credentials: { readonly secret: string }
  }
  const path = new URL(answer.body.webhookUrl).pathname
  const { streamId } = answer.body
  const { header } = signature
  // A secret in the address is part of each message.
  return {
    streamId,
    send: poster(path, header === undefined ? {} : { [header]: credentials.secret }),
  }
}

function poster(path: string, own: Readonly<Record<string, string>>): OpenFront['send'] {
  return async (messages) => {
    for (const { query = '', headers = {}, payload } of messages) {
      const answer = await service.api.request('POST', path + query, {
        headers: { ...headers, ...own },
        body: payload,
      })
      expect(answer).toMatchObject({ status: 202 })
    }
  }
}

describe('posted to a stream', () => {
  const toStreams = recipes.filter((recipe) => recipe.front === 'http' && !isOfFleet(recipe))
  test.each(toStreams)('$name', async (recipe) => {
    await followRecipe(service.api, recipe, (definition) => toStream(recipe, definition))
  })
})

describe('posted to a webhook', () => {
  test.each(recipes.filter(({ front }) => front === 'webhook'))('$name', async (recipe) => {
    await followRecipe(service.api, recipe, toWebhook)
  })
})
