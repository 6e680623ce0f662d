import type { Static } from 'typebox'
import { cutText } from '../../core/cut-text.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { padded } from '../../storage/state/portions.ts'
import type { VersionedDefinition } from './definition.ts'
import { sourceStateOf } from './fetched-streams.ts'
import { firingOf, noneFires } from './firing-alerts.ts'
import type { FoundStream } from './stream-list.ts'
import { fieldsMax, sparkSlots, type streamHealth } from './stream-list-api.ts'
import type { StreamSources } from './stream-sources.ts'
import { storedFieldsOf } from './transform-definition.ts'

/** Characters of the error of a source: the status of its stream has all of it. */
const errorLengthMax = 200

/** What a stream has received lately. */
export interface ActivityOfStream {
  readonly receivedPerSecond: number
  /** Readings in each slot, the oldest first; null where the service was not there yet. */
  readonly spark: readonly (number | null)[]
}

/** What streams have received lately, as whoever counts readings knows it. */
export interface StreamActivity {
  /** The activity of these streams; one that is left out has received nothing. */
  of(ids: readonly StreamId[]): Promise<ReadonlyMap<StreamId, ActivityOfStream>>
  /** Readings per second of the streams of an owner that receive something: the busiest, where there are more. */
  busiest(ownerId: UserId, limit: number): Promise<ReadonlyMap<StreamId, number>>
}

export interface HealthNeeds {
  readonly state: StateDatabase
  readonly activity: StreamActivity
  readonly sources: Pick<StreamSources, 'statusOf'>
}

export type StreamHealth = Static<typeof streamHealth>

const quiet: ActivityOfStream = {
  receivedPerSecond: 0,
  spark: Array.from({ length: sparkSlots.count }, () => 0),
}

/** How the streams of a page are doing: a few statements for all of them. */
export async function healthOf(
  { state, activity, sources }: HealthNeeds,
  streams: readonly FoundStream[],
): Promise<ReadonlyMap<StreamId, StreamHealth>> {
  if (streams.length === 0) return new Map()
  const ids = streams.map(({ id }) => id)
  const [activities, firing, fields] = await Promise.all([
    activity.of(ids),
    firingOf(state, ids),
    fieldsOf(state, ids),
  ])
  return new Map(
    streams.map((stream) => {
      const { id, lastReceivedAtUs, quarantined } = stream
      const { receivedPerSecond, spark } = activities.get(id) ?? quiet
      const health = {
        lastReadingAt: lastReceivedAtUs === null ? null : formatUs(lastReceivedAtUs),
        receivedPerSecond,
        quarantined,
        firing: firing.get(id) ?? noneFires,
        ...sourceOf(sources, stream),
        fields: fields.get(id) ?? [],
        spark,
      }
      return [id, health] as const
    }),
  )
}

function sourceOf(
  sources: HealthNeeds['sources'],
  { id, isPaused }: FoundStream,
): Pick<StreamHealth, 'source'> {
  const status = sources.statusOf(id)
  if (!status) return {}
  const { lastError, sinceUs } = status
  return {
    source: {
      state: sourceStateOf({ isPaused, status }),
      since: formatUs(sinceUs),
      ...(lastError !== undefined && { lastError: cutText(lastError, errorLengthMax) }),
    },
  }
}

/** The fields that readings of a stream have where they are stored. */
async function fieldsOf(state: StateDatabase, ids: readonly StreamId[]) {
  const rows = await state
    .selectFrom('data_streams as stream')
    .innerJoin('data_stream_versions as version', (join) =>
      join
        .onRef('version.stream_id', '=', 'stream.id')
        .onRef('version.version', '=', 'stream.version'),
    )
    .select(['stream.id', 'version.definition'])
    .where('stream.id', 'in', padded(ids))
    .execute()
  return new Map(rows.map((row) => [row.id as StreamId, shownFields(row.definition)]))
}

function shownFields(definition: string): StreamHealth['fields'] {
  const stored = storedFieldsOf(JSON.parse(definition) as VersionedDefinition)
  return Object.entries(stored)
    .slice(0, fieldsMax)
    .map(([name, { type, unit }]) => ({ name, type, ...(unit !== undefined && { unit }) }))
}
