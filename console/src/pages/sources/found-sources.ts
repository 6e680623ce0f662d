import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'

type Listed = Operations['listStreams']['answer'][number]

/** A stream whose readings are fetched from somewhere. */
export type SourceStream = Listed & { readonly source: NonNullable<Listed['source']> }

export interface FoundSources {
  readonly streams: readonly SourceStream[]
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: string | undefined
}

export interface SourceFilter {
  readonly state: string
  readonly type: string
  readonly contains: string
  readonly cursor: string | undefined
}

export const sourceStates = ['failing', 'running', 'waiting', 'connecting', 'paused'] as const

/** As many as a user can have: there is one page of all of them, and the type is looked for among all. */
const sourcesMax = 100

/** Streams with a source, of which each is in the state. */
export async function findSources(
  { state, type, contains, cursor }: SourceFilter,
  signal: AbortSignal,
): Promise<FoundSources> {
  const query = {
    include: 'health' as const,
    source: sourceStates.find((one) => one === state) ?? 'any',
    limit: sourcesMax,
    ...(contains !== '' && { contains }),
    ...(cursor !== undefined && { cursor }),
  }
  const { answer, headers } = await api.callRaw('listStreams', { query, signal })
  const streams = answer.filter(
    (one): one is SourceStream => one.source !== undefined && (type === '' || one.type === type),
  )
  return { streams, next: nextCursorIn(headers) }
}
