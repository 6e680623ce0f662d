import type { AggregatedField, AggregateFunction, AggregateQuery } from '../../aggregate-query.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { Column, Shape } from '../../shape.ts'
import { floorTo } from '../../windows/window-starts.ts'
import { firstUsOf } from '../read/aggregation/first-reading.ts'
import { type PointTotals, readTotals } from '../read/aggregation/read-totals.ts'
import { type Selection, type Source, statementsOf } from '../read/aggregation/selection.ts'
import { plain } from '../read/aggregation/totals.ts'
import type { ReadSession } from '../read/session.ts'
import type { RollupPiece } from './due-rollups.ts'

/** Half hours that one look brings: they are written in one turn of a thread that others need, too. */
const halfHoursMax = 5_000

/** What readings of one shape amount to, by the place of the piece that they belong to. */
export interface ComputedShape {
  readonly shape: Shape
  readonly points: readonly PointTotals[]
}

export interface ComputedRollups {
  /** Pieces are done up to here. */
  readonly coveredToUs: number
  readonly shapes: readonly ComputedShape[]
}

export interface RollupsQuestion {
  readonly pieces: readonly RollupPiece[]
  /** How much time with readings may be looked at. */
  readonly spanUs: number
  readonly shapesOf: (id: string) => readonly Shape[]
}

/** Reads what pieces amount to, from the oldest of them on. */
export async function computeRollups(
  session: ReadSession,
  { pieces, spanUs, shapesOf }: RollupsQuestion,
): Promise<ComputedRollups> {
  const fromUs = pieces.reduce((least, piece) => Math.min(least, piece.fromUs), Infinity)
  const toUs = pieces.reduce((greatest, piece) => Math.max(greatest, piece.toUs), 0)
  const selections = selectionsOf(pieces, shapesOf)
  // What has no readings is passed at once, however long it is.
  let firstUs = toUs
  for (const { sources } of selections) {
    firstUs = await firstUsOf(session, sources, { fromUs, toUs: firstUs })
  }
  const halfHours = Math.floor(Math.min(spanUs / rollupWidthUs, halfHoursMax / pieces.length))
  const lastUs = floorTo(firstUs, rollupWidthUs) + Math.max(1, halfHours) * rollupWidthUs
  const coveredToUs = Math.min(toUs, lastUs)
  if (firstUs >= coveredToUs) return { coveredToUs, shapes: [] }
  const range = { fromUs: Math.max(fromUs, floorTo(firstUs, rollupWidthUs)), toUs: coveredToUs }
  const shapes: ComputedShape[] = []
  for (const selection of selections) {
    const points = await readTotals(session, selection, {
      range,
      limit: halfHoursMax * 2,
      order: 'ASC',
      after: undefined,
      scale: plain,
    })
    if (selection.shape) shapes.push({ shape: selection.shape, points })
  }
  return { coveredToUs, shapes }
}

/**
 * Makes a selection for each shape that the streams have had: all of its columns, and the streams
 * as series of their own.
 */
function selectionsOf(
  pieces: readonly RollupPiece[],
  shapesOf: (id: string) => readonly Shape[],
): readonly (Selection & { readonly shape: Shape })[] {
  const shapes = new Map<string, { readonly shape: Shape; readonly pieces: number[] }>()
  for (const [index, { id }] of pieces.entries()) {
    for (const shape of shapesOf(id)) {
      const known = shapes.get(shape.id) ?? { shape, pieces: [] }
      known.pieces.push(index)
      shapes.set(shape.id, known)
    }
  }
  const query = halfHourly(pieces.map(({ id }) => id))
  return [...shapes.values()].map(({ shape, pieces: own }) => {
    const { columns } = shape
    const streams = own.map((series) => {
      return { streamId: (pieces[series] as RollupPiece).id, series, holdUs: undefined }
    })
    const sources = statementsOf(streams).map(
      (some): Source => ({ shape, streams: some, stored: columns }),
    )
    const fields = columns.flatMap(fieldsOf)
    return { query, fields, columns, sources, holdUsMax: 0, endUs: 0, rolledUp: new Map(), shape }
  })
}

function halfHourly(ids: readonly string[]): AggregateQuery {
  return {
    series: ids.map((id) => ({ key: id, streamIds: [id] })),
    startUs: 0,
    endUs: Number.MAX_SAFE_INTEGER,
    buckets: { kind: 'fixed', widthUs: rollupWidthUs },
    fields: [],
    fill: 'none',
    limit: halfHoursMax,
    after: undefined,
  }
}

function fieldsOf({ name, type }: Column): readonly AggregatedField[] {
  return functionsOf(type).map((one) => ({ key: one, name, type, function: one }))
}

function functionsOf(type: Column['type']): readonly AggregateFunction[] {
  if (type === 'double' || type === 'bigint') return ['sum', 'min', 'max', 'first', 'latest']
  return type === 'timestamp' ? ['min', 'max', 'first', 'latest'] : ['first', 'latest']
}
