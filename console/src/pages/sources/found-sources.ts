import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'

type Listed = Operations['listStreams']['answer'][number]

/** A stream whose readings are fetched from somewhere. */
export type SourceStream = Listed & { readonly source: NonNullable<Listed['source']> }

export interface FoundSources {
  readonly streams: readonly SourceStream[]
  /** Where to look further; undefined: all have been looked at. */
  readonly next: string | undefined
}

export interface SourceFilter {
  readonly state: string
  readonly type: string
  readonly contains: string
  readonly cursor: string | undefined
}

export const sourceStates = ['failing', 'running', 'waiting', 'connecting', 'paused'] as const

/** Streams have no filter for having a source: so many pages are looked through before somebody is asked to go on. */
const pagesMax = 5
const wantedMax = 50

/** Streams with a source, of which each is in the state. */
export async function findSources(
  filter: SourceFilter,
  signal: AbortSignal,
): Promise<FoundSources> {
  const { state, contains } = filter
  let { cursor } = filter
  const found: SourceStream[] =
    cursor === undefined && state === 'failing' ? await lastingFailures(filter, signal) : []
  for (let page = 0; page < pagesMax && found.length < wantedMax; page += 1) {
    const { answer, headers } = await api.callRaw('listStreams', {
      query: {
        include: 'health',
        limit: 100,
        ...(cursor !== undefined && { cursor }),
        ...(contains !== '' && { contains }),
        ...(state === 'paused' && { state }),
      },
      signal,
    })
    const known = new Set(found.map(({ streamId }) => streamId))
    found.push(
      ...answer.filter(
        (one): one is SourceStream => isWanted(one, filter) && !known.has(one.streamId),
      ),
    )
    cursor = nextCursorIn(headers)
    if (cursor === undefined) break
  }
  return { streams: found, next: cursor }
}

/** Those that do not pass by themselves: which these are among all streams, the service knows. */
async function lastingFailures(filter: SourceFilter, signal: AbortSignal): Promise<SourceStream[]> {
  const { contains } = filter
  const streams = await api.call('listStreams', {
    query: {
      include: 'health',
      problem: 'failing',
      limit: 100,
      ...(contains !== '' && { contains }),
    },
    signal,
  })
  return streams.filter((one): one is SourceStream => isWanted(one, { ...filter, state: '' }))
}

function isWanted(stream: Listed, { state, type }: SourceFilter): boolean {
  if (stream.source === undefined) return false
  return (state === '' || stream.source.state === state) && (type === '' || stream.type === type)
}
