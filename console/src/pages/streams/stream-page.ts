import type { Asked, Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'
import { pageSize } from './page-trail.ts'

export type ListedStream = Operations['listStreams']['answer'][number]
export type StreamQuery = NonNullable<Asked<Operations['listStreams']>['query']>

export interface StreamsPage {
  readonly streams: readonly ListedStream[]
  /** How many meet the filter; undefined for very many. */
  readonly total: number | undefined
  /** The cursor of the next page. */
  readonly next: string | undefined
}

/** A page of streams with how they are doing. */
export async function loadStreams(query: StreamQuery, signal: AbortSignal): Promise<StreamsPage> {
  const asked = { ...query, include: 'health', limit: pageSize } as const
  const { answer, headers } = await api.callRaw('listStreams', { query: asked, signal })
  const total = Number(headers.get('x-total-count') ?? Number.NaN)
  return {
    streams: answer,
    total: Number.isNaN(total) ? undefined : total,
    next: nextCursorIn(headers),
  }
}
