import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { UserQueue } from '../../core/user-queue.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { AlsoListed } from '../../storage/state/listing.ts'
import { type Looking, type SharedStream, sharedStreamsAfter } from '../rights/shared-rows.ts'

/** Permissions, and attachments, that one statement looks at: some milliseconds, in which nothing else happens. */
const stretchStreams = 250
const stretchAttachments = 1_000

export interface ManySharedNeeds {
  readonly clock: Clock
  /** A connection of its own to the state. */
  readonly openView: () => StateDatabase
}

/** An attachment in the order of a list. */
interface Place {
  readonly place: number
  readonly id: string
}

/**
 * Attachments of more asset streams than a statement has parts, for the list of somebody with whom they are shared.
 *
 * No index has them in the order of the list. They are copied into a temporary table that has it, in stretches between
 * which other requests have their turn, one list at a time. All of it reads one view of the state, through a connection
 * of its own: what changes meanwhile is in the next list, as if this one had been read at once when its turn came.
 */
export class ManyShared {
  readonly #needs: ManySharedNeeds
  readonly #queue = new UserQueue('long lists')

  constructor(needs: ManySharedNeeds) {
    this.#needs = needs
  }

  /**
   * What is read of one view of the state, in which these attachments are in order.
   *
   * @throws DomainError `overloaded` when too many lists wait, or too many of this user
   */
  async read<Result>(
    userId: UserId,
    list: (view: StateDatabase, looking: Looking, also: AlsoListed) => Promise<Result>,
  ): Promise<Result> {
    const { clock, openView } = this.#needs
    return await this.#queue.do(userId, async () => {
      const connection = openView()
      try {
        return await connection.transaction().execute(async (view) => {
          const looking = { userId, nowUs: clock.nowUs() }
          return await list(view, looking, await copied(view, looking))
        })
      } finally {
        await connection.destroy()
      }
    })
  }
}

/** Copies them, and says where they are. */
async function copied(view: StateDatabase, looking: Looking): Promise<AlsoListed> {
  // It goes with the connection.
  await sql`CREATE TEMPORARY TABLE listed_attachments
    (place BIGINT, id TEXT, PRIMARY KEY (place, id)) WITHOUT ROWID`.execute(view)
  let total = 0
  let streams: readonly SharedStream[] = []
  do {
    streams = await sharedStreamsAfter(view, looking, streams.at(-1), stretchStreams)
    await nextTurn()
    for (const some of portionsOf(streams.filter(({ attached, counts }) => counts && attached))) {
      total += await copyOf(view, some)
    }
  } while (streams.length === stretchStreams)
  return {
    count: sql`SELECT ${total} AS count`,
    places: [sql`SELECT place, id FROM temp.listed_attachments`],
  }
}

/** Asset streams in portions with so many attachments each; one with more is alone. */
function portionsOf(streams: readonly SharedStream[]): readonly (readonly SharedStream[])[] {
  const portions: SharedStream[][] = []
  let room = 0
  for (const stream of streams) {
    room -= stream.attached
    const portion = portions.at(-1)
    if (portion && room >= 0) portion.push(stream)
    else {
      portions.push([stream])
      room = stretchAttachments - stream.attached
    }
  }
  return portions
}

/** Resolves with how many there are. */
async function copyOf(view: StateDatabase, streams: readonly SharedStream[]): Promise<number> {
  const [first, second] = streams
  if (first && !second) return await copyLong(view, first.id)
  const ids = JSON.stringify(streams.map(({ id }) => id))
  const { numAffectedRows = 0n } = await sql`INSERT INTO temp.listed_attachments
    SELECT attachments.created_at, attachments.id FROM json_each(${ids}) AS ids
    CROSS JOIN attachments ON stream_id = ids.value`.execute(view)
  await nextTurn()
  return Number(numAffectedRows)
}

/** Copies what is attached to one asset stream, of which there may be a million, in stretches. */
async function copyLong(view: StateDatabase, id: string): Promise<number> {
  let count = 0
  let last: Place | undefined
  do {
    const after = last ? sql`(created_at, id) > (${last.place}, ${last.id})` : sql`1 = 1`
    const stretch = sql`FROM attachments WHERE stream_id = ${id} AND ${after}
      ORDER BY created_at, id LIMIT ${stretchAttachments}`
    const { numAffectedRows = 0n } = await sql`INSERT INTO temp.listed_attachments
      SELECT created_at, id ${stretch}`.execute(view)
    count += Number(numAffectedRows)
    const end = sql<Place>`SELECT created_at AS place, id ${stretch} OFFSET ${stretchAttachments - 1}`
    last = (await end.execute(view)).rows[0]
    await nextTurn()
  } while (last)
  return count
}
