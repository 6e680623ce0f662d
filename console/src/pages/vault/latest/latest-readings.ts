import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { nextCursorIn } from '../../../api/next-page.ts'

export type ListedStream = Operations['listStreams']['answer'][number]
type Reading = Operations['readLatestOfVault']['answer']['data'][number]

/** Where a page of streams begins, and that of their readings: both are in the order in which streams were made. */
export interface PagePlace {
  readonly streams: string | undefined
  readonly readings: string | undefined
}

/** A stream of a vault with its newest reading, where it has one. */
export interface LatestOfStream {
  readonly stream: ListedStream
  readonly reading: Reading | undefined
  readonly values: readonly LatestValue[]
}

export interface LatestValue {
  readonly name: string
  readonly value: unknown
  readonly unit: string | undefined
}

export interface LatestPage {
  readonly rows: readonly LatestOfStream[]
  readonly next: PagePlace | undefined
}

/** With how they are doing, a page has a hundred at most. */
const pageSize = 100

/** Members of a reading that are no fields of its stream. */
const notFields = ['streamId', 'timestamp', 'extra', 'count', 'revision', 'computedAt']

/** Streams of a vault with their newest readings. @throws ApiFailure */
export async function loadLatest(
  vaultId: string,
  { streams: cursor, readings }: PagePlace,
  signal: AbortSignal,
): Promise<LatestPage> {
  const [listed, latest] = await Promise.all([
    api.callRaw('listStreams', {
      query: { vaultId, include: 'health', limit: pageSize, cursor },
      signal,
    }),
    api.call('readLatestOfVault', {
      path: { vaultId },
      query: { limit: pageSize, cursor: readings },
      signal,
    }),
  ])
  const byStream = new Map(latest.data.map((reading) => [reading.streamId, reading]))
  const next = nextCursorIn(listed.headers)
  return {
    rows: listed.answer.map((stream) => {
      const reading = byStream.get(stream.streamId)
      return { stream, reading, values: reading ? valuesOf(reading, stream) : [] }
    }),
    next:
      next === undefined ? undefined : { streams: next, readings: latest.nextCursor ?? undefined },
  }
}

/** Values of a reading in the order of the fields of its stream, then what else is in it. */
export function valuesOf(
  reading: Readonly<Record<string, unknown>>,
  { fields = [] }: Pick<ListedStream, 'fields'>,
): readonly LatestValue[] {
  const units = new Map(fields.map(({ name, unit }) => [name, unit]))
  // A field may have the name of such a member: then it is what the stream says it is.
  const names = Object.keys(reading).filter((name) => units.has(name) || !notFields.includes(name))
  const order = [...units.keys()]
  const rank = (name: string) => (units.has(name) ? order.indexOf(name) : order.length)
  return names
    .toSorted((one, other) => rank(one) - rank(other))
    .map((name) => ({ name, value: reading[name], unit: units.get(name) }))
}
