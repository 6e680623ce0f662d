import { expect } from 'vitest'
import type { ApiClient } from '../support/api-client.ts'
import type { ExpectedReading, Recipe, SentMessage } from './recipe.ts'
import { type RecipeDefinition, recipePage } from './recipe-page.ts'

/** What each recipe is tried with. */
export const messagesMin = 200

/** A stream of a definition, and the way to it that the source has. */
export interface OpenFront {
  readonly streamId: string
  /** Sends in this order. @throws Error when one is not taken */
  readonly send: (messages: readonly SentMessage[]) => Promise<void>
}

/** Does what a page says, sends its example and then what the source sends, and compares all that is stored. */
export async function followRecipe(
  api: ApiClient,
  recipe: Recipe,
  open: (definition: RecipeDefinition) => Promise<OpenFront>,
): Promise<void> {
  const { definition, example, readings } = recipePage(recipe)
  const { streamId, send } = await open(definition)
  await send([example])
  await expectStored(api, streamId, { example: readings, series: [], received: 1 })

  const messages = recipe.messages(messagesMin)
  const series = messages.flatMap((_, index) => recipe.expected(index))
  await send(messages)
  await expectStored(api, streamId, { example: readings, series, received: 1 + messages.length })
}

/** What is to be in a stream. */
export interface ExpectedStream {
  /** What the example of the page has brought. */
  readonly example: readonly ExpectedReading[]
  /** What has been sent after it. */
  readonly series: readonly ExpectedReading[]
  /** Readings that the stream has received, at least. */
  readonly received: number
}

/** Waits until all of it is stored, and compares. */
export async function expectStored(
  api: ApiClient,
  streamId: string,
  { example, series, received }: ExpectedStream,
): Promise<void> {
  const expected = distinct(series)
  const count = example.length + expected.length
  await stored(api, streamId, count)
  const counters = await api.settled(streamId, received)
  expect(await quarantineOf(api, streamId)).toEqual([])
  expect(counters).toMatchObject({ quarantined: 0, stored: count })
  const all = await api.readAll(streamId)
  expect(timed(all.slice(0, example.length), example)).toEqual(example)
  const ofSeries = all.slice(example.length).map((reading) => without(reading, 'extra'))
  expect(inOrder(timed(ofSeries, expected))).toEqual(inOrder(expected))
}

async function stored(api: ApiClient, streamId: string, count: number): Promise<void> {
  const reached = async () => {
    const { counters } = await api.status(streamId)
    if (counters.quarantined > 0) throw new Error(JSON.stringify(await quarantineOf(api, streamId)))
    return counters.stored
  }
  await expect.poll(reached, { interval: 100, timeout: 30_000 }).toBeGreaterThanOrEqual(count)
}

async function quarantineOf(api: ApiClient, streamId: string): Promise<readonly unknown[]> {
  const path = `/streams/${streamId}/quarantine?limit=3`
  return (await api.withToken<{ entries: unknown[] }>('GET', path)).body.entries
}

/** Readings without their times, where these are those of their receipt. */
function timed(
  readings: readonly ExpectedReading[],
  [first]: readonly ExpectedReading[],
): readonly ExpectedReading[] {
  if (first !== undefined && 'timestamp' in first) return readings
  return readings.map((reading) => without(reading, 'timestamp'))
}

function without(reading: ExpectedReading, name: string): ExpectedReading {
  return Object.fromEntries(Object.entries(reading).filter(([member]) => member !== name))
}

/** A source may say the same again, which is stored once where it has a time. */
function distinct(readings: readonly ExpectedReading[]): readonly ExpectedReading[] {
  const [first] = readings
  if (first === undefined || !('timestamp' in first)) return readings
  return [...new Map(readings.map((one) => [JSON.stringify(one), one])).values()]
}

/** In the order of their times; without, as they came. */
function inOrder(readings: readonly ExpectedReading[]): readonly ExpectedReading[] {
  return readings.toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)))
}

function timeOf({ timestamp }: ExpectedReading): string {
  return typeof timestamp === 'string' ? timestamp : ''
}
