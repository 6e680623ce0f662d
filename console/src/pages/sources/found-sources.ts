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

/** Streams with a source, of which each is in the state. Those that fail are known to the service. */
export async function findSources(
  filter: SourceFilter,
  signal: AbortSignal,
): Promise<FoundSources> {
  const { state, type, contains } = filter
  const found: SourceStream[] = []
  let { cursor } = filter
  for (let page = 0; page < pagesMax && found.length < wantedMax; page += 1) {
    const { answer, headers } = await api.callRaw('listStreams', {
      query: {
        include: 'health',
        limit: 100,
        ...(cursor !== undefined && { cursor }),
        ...(contains !== '' && { contains }),
        ...(state === 'paused' && { state }),
        ...(state === 'failing' && { problem: state }),
      },
      signal,
    })
    found.push(...answer.filter((stream) => isWanted(stream, state, type)))
    cursor = nextCursorIn(headers)
    if (cursor === undefined) break
  }
  return { streams: found, next: cursor }
}

function isWanted(stream: Listed, state: string, type: string): stream is SourceStream {
  if (stream.source === undefined) return false
  // A source that fails waits and connects between its tries: which ones do, the service has said.
  const isIn = state === '' || state === 'failing' || stream.source.state === state
  return isIn && (type === '' || stream.type === type)
}
