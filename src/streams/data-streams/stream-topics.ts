import { type Compilable, sql } from 'kysely'
import type { Json } from '../../contracts/definitions/problems.ts'
import { noRoom } from '../../core/conflict.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { ownTopicOf } from './source-kinds.ts'

/** Streams with a topic of their own that a user can have: each is in the way of its messages. */
const topicsPerUserMax = 5_000

/** A filter of a user's topics, and the stream that messages on them are for. */
interface StreamTopic {
  readonly streamId: StreamId
  readonly filter: string
}

interface Topical {
  readonly id: StreamId
  readonly ownerId: UserId
  readonly source: Json
  /** Set where the topic is found by the fleet. */
  readonly fleet?: object | undefined
}

/** What writes the topic of a new stream down. It finds nothing to change when there are too many. */
export function topicRows(state: StateDatabase, stream: Topical): readonly Compilable[] {
  const filter = routedTopicOf(stream)
  if (filter === undefined) return []
  return [
    state
      .insertInto('data_stream_topics')
      .columns(['stream_id', 'owner_id', 'filter'])
      .expression(
        sql`SELECT ${stream.id}, ${stream.ownerId}, ${filter}
              WHERE (SELECT count(*) FROM data_stream_topics WHERE owner_id = ${stream.ownerId})
                < ${topicsPerUserMax}`,
      ),
  ]
}

/** What takes the topic of a stream away. A change that finds no row would undo all the others. */
export function withoutTopic(state: StateDatabase, stream: Topical): readonly Compilable[] {
  if (routedTopicOf(stream) === undefined) return []
  return [state.deleteFrom('data_stream_topics').where('stream_id', '=', stream.id)]
}

/** What makes the topic of a stream another one, or the same, or none. */
export function changedTopic(
  state: StateDatabase,
  before: Topical,
  after: Topical,
): readonly Compilable[] {
  if (routedTopicOf(before) === routedTopicOf(after)) return []
  return [...withoutTopic(state, before), ...topicRows(state, after)]
}

/** The topic that a stream has a row for. A device of a fleet needs none: it is found by the topic of the fleet. */
function routedTopicOf({ source, fleet }: Pick<Topical, 'source' | 'fleet'>): string | undefined {
  return fleet === undefined ? ownTopicOf(source) : undefined
}

/** All topics of a user. */
export async function loadTopics(
  state: StateDatabase,
  ownerId: UserId,
): Promise<readonly StreamTopic[]> {
  const rows = await state
    .selectFrom('data_stream_topics')
    .select(['stream_id', 'filter'])
    .where('owner_id', '=', ownerId)
    .limit(topicsPerUserMax)
    .execute()
  return rows.map((row) => ({ streamId: row.stream_id as StreamId, filter: row.filter }))
}

/** Whether a change gives a topic to a stream that had none. */
export function isNewTopic(
  before: Pick<Topical, 'source' | 'fleet'>,
  after: Pick<Topical, 'source' | 'fleet'>,
): boolean {
  return routedTopicOf(before) === undefined && routedTopicOf(after) !== undefined
}

/** @throws DomainError `conflict` when the user has as many topics as there may be */
export async function assertTopicRoom(state: StateDatabase, ownerId: UserId): Promise<void> {
  const row = await state
    .selectFrom('data_stream_topics')
    .select((builder) => builder.fn.countAll<number>().as('topics'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  if (row.topics < topicsPerUserMax) return
  throw noRoom(
    `a user can have ${topicsPerUserMax} streams with a source.topic`,
    'DELETE /streams/{streamId}',
  )
}

/** First levels that have a meaning of their own at our broker. */
const takenLevels = ['streams', 'users']

/** What is wrong with a topic at our own broker, if anything is. */
export function ownTopicProblem(source: Json): string | undefined {
  const topic = ownTopicOf(source)
  if (topic === undefined) return undefined
  const [first = ''] = topic.split('/')
  if (first.startsWith('$')) return 'must not begin with $'
  if (takenLevels.includes(first))
    return `must not begin with ${first}/, which the service itself uses`
  return undefined
}
