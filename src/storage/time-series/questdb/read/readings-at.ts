import type { Offset } from '../../../journal/journal.ts'
import type { ArrivedPoint, ReadingsAt, ReadingsAtQuery } from '../../readings-query.ts'
import { storedDigestOf } from './field-values.ts'
import { readRaw } from './raw-readings.ts'
import type { ReadSession } from './session.ts'
import { digestIn, microseconds, ofStreams, piecesOf, within } from './statement.ts'

/** Digests that one statement names, of 20 bytes each. */
const digestsPerStatement = 400

/** All readings of one time, with when each came in and where its entry is. */
export async function readingsAt(
  session: ReadSession,
  { timestampUs, ...asked }: ReadingsAtQuery,
): Promise<ReadingsAt> {
  const time = { startUs: timestampUs, endUs: timestampUs + 1 }
  const query = { ...asked, ...time, fields: [], after: undefined }
  const { points, next } = await readRaw(session, query)
  const arrivals = await arrivalsOf(session, points, { ...asked, timestampUs })
  const arrived = points.flatMap((point): ArrivedPoint[] => {
    const arrival = arrivals.get(point.digest)
    return arrival === undefined ? [] : [{ ...point, ...arrival }]
  })
  return { points: arrived, hasMore: next !== undefined, position: session.position }
}

interface Arrival {
  readonly receivedAtUs: number
  readonly offset: Offset
}

async function arrivalsOf(
  session: ReadSession,
  points: readonly { readonly digest: bigint }[],
  { streamId, timestampUs }: Pick<ReadingsAtQuery, 'streamId' | 'timestampUs'>,
): Promise<ReadonlyMap<bigint, Arrival>> {
  const arrivals = new Map<bigint, Arrival>()
  const digests = points.map(({ digest }) => digest)
  for (const { name } of session.tablesOf(streamId)) {
    for (const some of piecesOf(digests, digestsPerStatement)) {
      const rows = await session.rows(
        `SELECT "$digest", ${microseconds('"$receivedAt"')}, "$offset" FROM ${name}
         WHERE ${ofStreams([streamId])} AND ${within({ fromUs: timestampUs, toUs: timestampUs + 1 })}
           AND ${digestIn(some)} AND ${session.visible}`,
      )
      for (const [digest, receivedAt, offset] of rows) {
        const arrival = { receivedAtUs: Number(receivedAt), offset: Number(offset) }
        arrivals.set(storedDigestOf(digest), arrival)
      }
    }
  }
  return arrivals
}
