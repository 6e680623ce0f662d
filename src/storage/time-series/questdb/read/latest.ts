import type {
  LatestPage,
  LatestQuery,
  LatestReading,
  ReadingsCursor,
} from '../../readings-query.ts'
import type { Shape } from '../../shape.ts'
import { pointOf, readingSize, selectedReading, storedDigestOf } from './field-values.ts'
import type { ReadSession, Stored } from './session.ts'
import {
  atInstants,
  digestIn,
  microseconds,
  ofStreams,
  piecesOf,
  streamsPerStatement,
} from './statement.ts'

/** A stream that is asked about, and the time of its newest reading. */
interface Wanted {
  /** Place in the question. */
  readonly place: number
  readonly streamId: string
  readonly newestUs: number
  readonly shapes: readonly Shape[]
}

/** The newest reading of a stream. */
interface Newest extends Wanted {
  readonly digest: bigint
  readonly bytes: number
  readonly shape: Shape
}

/** The streams that have a newest reading. */
export function newestTimes(stored: Stored, { streamIds }: LatestQuery): readonly Wanted[] {
  return streamIds.flatMap((streamId, place): Wanted[] => {
    const newestUs = stored.stream(streamId)?.timestampMaxUs ?? -1
    const shapes = stored.shapesOf(streamId)
    return newestUs < 0 ? [] : [{ place, streamId, newestUs, shapes }]
  })
}

/**
 * The newest readings of some streams, by (time, digest), as many as fit in.
 *
 * The catalog knows when the newest reading of each stream is, so that only those moments are looked at. What
 * is stored at them may be large, so sizes come first, as for pages of readings.
 */
export async function readLatest(
  session: ReadSession,
  { streamIds, bytesMax }: LatestQuery,
  wanted: readonly Wanted[],
): Promise<LatestPage> {
  const found = await findNewest(session, wanted)
  const fitting: Newest[] = []
  let covered = streamIds.length
  let bytes = 0
  for (const newest of found) {
    bytes += newest.bytes
    if (fitting.length > 0 && bytes > bytesMax) {
      covered = newest.place
      break
    }
    fitting.push(newest)
  }
  return { readings: await readingsOf(session, fitting), covered }
}

/** In the order of the question; of several readings at one time the one with the greatest digest. */
async function findNewest(session: ReadSession, wanted: readonly Wanted[]): Promise<Newest[]> {
  const found = new Map<number, Newest>()
  for (const [shape, streams] of byShape(wanted)) {
    const { name, columns } = session.tableOf(shape)
    for (const some of piecesOf(streams, streamsPerStatement)) {
      const byMoment = new Map(some.map((stream) => [momentOf(stream), stream]))
      const rows = await session.rows(
        `SELECT "streamId", ${microseconds('"timestamp"')} AS t, ${greatestDigest},
           max(${readingSize(columns)}) FROM ${name}
         WHERE ${atMoments(some)} AND ${session.visible} GROUP BY "streamId", t`,
      )
      for (const [streamId, time, upper, middle, lower, size] of rows) {
        const moment = { streamId: String(streamId), newestUs: Number(time) }
        const stream = byMoment.get(momentOf(moment))
        if (!stream) continue
        const digest = storedDigestOf(upper ?? (Number(middle) > 0 ? null : lower))
        const other = found.get(stream.place)
        if (other && other.digest > digest) continue
        found.set(stream.place, { ...stream, digest, bytes: Number(size), shape })
      }
    }
  }
  return [...found.values()].sort((left, right) => left.place - right.place)
}

/** The greatest one of the half with a sign, how many there are in the middle, that of the other half. */
const greatestDigest = `max(CASE WHEN "$digest" < 0 THEN "$digest" END),
  sum(CASE WHEN "$digest" = null THEN 1 ELSE 0 END),
  max(CASE WHEN "$digest" >= 0 THEN "$digest" END)`

type Moment = Pick<Wanted, 'streamId' | 'newestUs'>

/** Some streams at some times: may also be those of one at the times of another. */
function atMoments(moments: readonly Moment[]): string {
  const streams = ofStreams(moments.map(({ streamId }) => streamId))
  return `${streams} AND ${atInstants(new Set(moments.map(({ newestUs }) => newestUs)))}`
}

function momentOf({ streamId, newestUs }: Moment): string {
  return `${newestUs} ${streamId}`
}

function byShape(wanted: readonly Wanted[]): Iterable<[Shape, Wanted[]]> {
  const shapes = new Map<string, [Shape, Wanted[]]>()
  for (const stream of wanted) {
    for (const shape of stream.shapes) {
      const known = shapes.get(shape.id) ?? [shape, []]
      known[1].push(stream)
      shapes.set(shape.id, known)
    }
  }
  return shapes.values()
}

async function readingsOf(
  session: ReadSession,
  fitting: readonly Newest[],
): Promise<readonly LatestReading[]> {
  const readings = new Map<string, LatestReading>()
  for (const [shape, streams] of Map.groupBy(fitting, (newest) => newest.shape)) {
    const { name, columns } = session.tableOf(shape)
    for (const some of piecesOf(streams, streamsPerStatement)) {
      const rows = await session.rows(
        `SELECT "streamId", ${selectedReading(columns)} FROM ${name}
         WHERE ${atMoments(some)} AND ${digestIn(some.map(({ digest }) => digest))} AND ${session.visible}`,
      )
      for (const [streamId, ...reading] of rows) {
        const point = pointOf(reading, columns, true)
        readings.set(placeOf(String(streamId), point), { streamId: String(streamId), point })
      }
    }
  }
  return fitting.flatMap(({ streamId, newestUs, digest }) => {
    return readings.get(placeOf(streamId, { timestampUs: newestUs, digest })) ?? []
  })
}

function placeOf(streamId: string, { timestampUs, digest }: ReadingsCursor): string {
  return `${timestampUs} ${digest} ${streamId}`
}
