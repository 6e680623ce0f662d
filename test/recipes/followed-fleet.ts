import { expect } from 'vitest'
import type { ApiClient } from '../support/api-client.ts'
import type { MadeKey } from '../support/people.ts'
import { expectStored, messagesMin } from './followed-recipe.ts'
import type { ExpectedReading, FleetRecipe, SentMessage } from './recipe.ts'
import { type RecipeDefinition, recipePage } from './recipe-page.ts'

/** A fleet of a definition, and the way to it that its devices have. */
export interface OpenFleet {
  readonly fleetId: string
  readonly vaultId: string
  /** Sends in this order. @throws Error when one is not taken */
  readonly send: (messages: readonly SentMessage[]) => Promise<void>
}

/**
 * Does what the page of a fleet says, sends its example and then what its devices send, and compares all that is stored:
 * in the stream of each device its own readings, and no stream of anything else.
 */
export async function followFleet(
  api: ApiClient,
  recipe: FleetRecipe,
  open: (definition: RecipeDefinition) => Promise<OpenFleet>,
): Promise<void> {
  const { definition, example, readings, device = recipe.device(0, 0) } = recipePage(recipe)
  const { fleetId, vaultId, send } = await open(definition)
  await send([example])
  const first = await streamOf(api, vaultId, device)
  await expectStored(api, first, { example: readings, series: [], received: 1 })

  const messages = recipe.messages(messagesMin)
  const expected = byDevice(recipe, messages.length)
  await send(messages)
  for (const [name, series] of expected) {
    const streamId = await streamOf(api, vaultId, name)
    const own = name === device ? readings : []
    const received = own.length + series.length
    await expectStored(api, streamId, { example: own, series, received })
  }
  const { body } = await api.withToken<{ streams: number }>('GET', `/fleets/${fleetId}`)
  expect(body.streams).toBe(new Set([device, ...expected.keys()]).size)
}

function byDevice(
  recipe: FleetRecipe,
  count: number,
): ReadonlyMap<string, readonly ExpectedReading[]> {
  const all = Array.from({ length: count }, (_, index) =>
    recipe
      .expected(index)
      .map((reading, place) => ({ name: recipe.device(index, place), reading })),
  ).flat()
  const groups = Map.groupBy(all, ({ name }) => name)
  return new Map([...groups].map(([name, own]) => [name, own.map(({ reading }) => reading)]))
}

/** Makes a fleet of the definition of a page. */
export async function newFleet(api: ApiClient, definition: RecipeDefinition, named?: string) {
  const vaultId = await api.createVault()
  const name = named ?? `fleet of ${vaultId}`
  const wanted = { name, vaultId, definition }
  const made = await api.withToken<{ fleetId: string }>('POST', '/fleets', wanted)
  expect(made, JSON.stringify(made.body)).toMatchObject({ status: 201 })
  return { fleetId: made.body.fleetId, vaultId, name }
}

/** The key that docs/recipes/README.md makes for a fleet. */
export async function newFleetKey(api: ApiClient): Promise<MadeKey> {
  const { body } = await api.withToken<MadeKey>('POST', '/keys', {
    name: 'a fleet',
    kind: 'live',
    permission: 'custom',
    scopes: ['data:write'],
    foreignTopics: 'ignore',
  })
  return body
}

/** The stream that a fleet has made for a device: it has the name as a tag. */
export async function streamOf(api: ApiClient, vaultId: string, device: string): Promise<string> {
  const path = `/streams?vaultId=${vaultId}&tag.device=${encodeURIComponent(device)}`
  const find = async () =>
    (await api.withToken<readonly { readonly streamId: string }[]>('GET', path)).body
  await expect.poll(find, { timeout: 20_000 }).toHaveLength(1)
  return (await find())[0]?.streamId ?? ''
}
