import { compareText } from '../../core/canonical-json.ts'
import type { AggregatePage, AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
import type {
  ComputedPiece,
  MarkedWindows,
  WindowContent,
  WindowDefinition,
  WindowPiece,
  WindowStore,
} from '../../storage/time-series/windows/window-store.ts'

/** What windows are kept in, and computed with: the very aggregation that queries have. */
export interface WindowedStore {
  readonly windows: WindowStore
  /** @throws DomainError `overloaded`, `query_too_slow` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>
}

/** Streams whose windows are alike and cover the same time: one query computes them. */
export interface Group<Piece extends MarkedWindows> {
  readonly definition: WindowDefinition
  readonly fromUs: number
  readonly toUs: number
  readonly pieces: readonly Piece[]
}

/** Pieces by what can be computed together, each stream at most once in a group. */
export function groupsOf<Piece extends MarkedWindows>(
  pieces: readonly Piece[],
): readonly Group<Piece>[] {
  const numbers = new Map<WindowDefinition, number>()
  const groups = Map.groupBy(pieces, ({ definition, fromUs, toUs }) => {
    const number = numbers.get(definition) ?? numbers.size
    numbers.set(definition, number)
    return `${number} ${fromUs} ${toUs}`
  })
  return [...groups.values()].map((own) => {
    const { definition, fromUs, toUs } = own[0] as Piece
    const sorted = own.toSorted((left, right) => compareText(left.streamId, right.streamId))
    return { definition, fromUs, toUs, pieces: sorted }
  })
}

/**
 * Computes the pieces of a group. Of one that has more windows with readings than `windowsMax` only the
 * first ones are.
 */
export async function computeGroup(
  store: WindowedStore,
  { pieces, ...group }: Group<WindowPiece>,
  windowsMax: number,
): Promise<readonly ComputedPiece[]> {
  const { definition, toUs } = group
  const count = (toUs - group.fromUs) / definition.widthUs
  // Several pieces together are short: all of their windows fit in.
  const limit = pieces.length === 1 ? windowsMax : count * pieces.length
  const { points, next } = await store.aggregate({
    ...windowsQuery({
      ...group,
      streamIds: pieces.map(({ streamId }) => streamId),
      untilUs: toUs,
    }),
    limit,
  })
  const coveredToUs = next ? next.timestampUs + definition.widthUs : toUs
  const byStream = Map.groupBy(points, ({ series }) => series)
  return pieces.map((piece) => {
    const windows: readonly WindowContent[] = byStream.get(piece.streamId) ?? []
    return { piece, coveredToUs, windows }
  })
}

interface AskedWindows {
  readonly definition: WindowDefinition
  readonly fromUs: number
  readonly toUs: number
  /** Ascending. */
  readonly streamIds: readonly string[]
  /** The present, for what goes by time. */
  readonly untilUs: number
}

/** The question whose answer is the windows of some streams. */
export function windowsQuery({
  definition: { widthUs, fields, holdUs },
  fromUs,
  toUs,
  streamIds,
  untilUs,
}: AskedWindows): Omit<AggregateQuery, 'limit'> {
  const holdsUs = holdUs === undefined ? undefined : new Map(streamIds.map((id) => [id, holdUs]))
  return {
    series: streamIds.map((id) => ({ key: id, streamIds: [id] })),
    startUs: fromUs,
    endUs: toUs,
    buckets: { kind: 'fixed', widthUs },
    fields,
    timeWeights: holdsUs && { holdsUs, untilUs },
    fill: 'none',
    // The number of windows limits what is asked for.
    bytesMax: Number.POSITIVE_INFINITY,
    after: undefined,
  }
}
