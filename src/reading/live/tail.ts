import type { StreamId } from '../../core/ids.ts'
import { uuidBytes } from '../../core/ids.ts'
import type { HistoryPage, HistoryQuery } from '../../storage/time-series/readings-query.ts'
import type { JournalTails } from './journal-tails.ts'
import { storedJson } from './live-entry.ts'
import { encodePosition, type HistoryPosition, type Position } from './position.ts'

/** Stored readings that are read at once, unless they are long ones. */
const pagePointsMax = 1_000

/** One reading, or whatever else is followed, and how far one has followed with it. */
export interface TailEvent {
  readonly type: string
  readonly position: string
  readonly json: string
}

/** What comes next: nothing, when nothing came for a while. */
export interface TailStep {
  readonly events: readonly TailEvent[]
  readonly position: string
}

export interface TailNeeds {
  readonly journal: Pick<JournalTails, 'slice'>
  /** @throws DomainError `store_unavailable` */
  readonly history: (query: HistoryQuery) => Promise<HistoryPage>
}

export interface FollowRequest {
  readonly streamId: StreamId
  readonly from: Position
  readonly withQuarantined: boolean
}

/**
 * Follows a stream: what is stored, in the order of time, then what the journal gets, in the order of
 * arrival, and nothing in between is missing or comes twice.
 *
 * The store goes on while its pages are read. A reading that is stored between two pages is met in a
 * later one if it falls behind the place that was reached; otherwise it is taken out of the journal,
 * from where the store stood at the page before to where it stands at this one. The place that was
 * reached decides, so nothing has to be remembered but that (compare the watermarks of
 * https://arxiv.org/abs/2010.12597).
 *
 * @throws DomainError `position_expired` when the journal was trimmed meanwhile: who reads is too slow
 */
export async function* follow(
  needs: TailNeeds,
  { streamId, from, withQuarantined }: FollowRequest,
): AsyncGenerator<TailStep, never> {
  const streamKey = uuidBytes(streamId).toString('latin1')
  const request = { streamKey, withQuarantined }
  let position = from
  while (position.kind === 'history') {
    const page = await needs.history({ streamId, after: position.after, limit: pagePointsMax })
    yield* missed(needs, request, { before: position, until: page.position })
    const step = stepOf(page)
    yield step.shown
    position = step.position
  }
  let offset = position.offset
  for (;;) {
    const slice = await needs.journal.slice({
      ...request,
      from: offset,
      until: undefined,
      upTo: undefined,
    })
    offset = slice.next
    const events = slice.events.map((event) => ({
      type: event.type,
      json: event.json,
      position: encodePosition({ kind: 'live', offset: event.offset + 1 }),
    }))
    yield { events, position: encodePosition({ kind: 'live', offset }) }
  }
}

interface Stretch {
  readonly before: HistoryPosition
  readonly until: number
}

/** What was stored since the page before, and falls before the place that this one goes on from. */
async function* missed(
  { journal }: TailNeeds,
  request: { readonly streamKey: string; readonly withQuarantined: boolean },
  { before, until }: Stretch,
): AsyncGenerator<TailStep> {
  const { after } = before
  const positionAt = (offset: number) => encodePosition({ kind: 'history', offset, after })
  let from = before.offset ?? until
  while (from < until) {
    const slice = await journal.slice({ ...request, from, until, upTo: after })
    from = slice.next
    const events = slice.events.map(({ type, json, offset }) => ({
      type,
      json,
      position: positionAt(offset + 1),
    }))
    yield { events, position: positionAt(from) }
  }
}

function stepOf({ points, next, position: offset }: HistoryPage) {
  const events = points.map((point): TailEvent => {
    const after = { timestampUs: point.timestampUs, digest: point.digest }
    const position = encodePosition({ kind: 'history', offset, after })
    return { type: 'reading', position, json: storedJson(point) }
  })
  const position: Position =
    next === undefined ? { kind: 'live', offset } : { kind: 'history', offset, after: next }
  return { shown: { events, position: encodePosition(position) }, position }
}
