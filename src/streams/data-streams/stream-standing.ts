import { type RawBuilder, sql } from 'kysely'
import type { StreamId } from '../../core/ids.ts'
import type { streamStates } from './stream-state.ts'

/** What somebody may have to look after; decisions.md#problems-of-streams says when a stream has which. */
export const streamProblems = ['silent', 'quarantined', 'firing', 'failing'] as const

export type StreamState = (typeof streamStates)[number]
export type StreamProblem = (typeof streamProblems)[number]

/** How a stream that is asked for is doing: it is in one of the states, and has one of the problems. */
export interface Standing {
  readonly states?: readonly StreamState[]
  readonly problems?: readonly StreamProblem[]
  /** Streams whose sources fail for long: no table knows them. */
  readonly failing: readonly StreamId[]
  /** A stream is silent that has received nothing since. */
  readonly silentSinceUs: number
}

const runs = sql<boolean>`data_streams.paused_at IS NULL`
const hasReceived = counted(sql<boolean>`received > 0`)

type Condition = (moment: Moment) => RawBuilder<boolean>

/** The states as `stateOf` has them. */
const inState: Readonly<Record<StreamState, Condition>> = {
  paused: () => sql<boolean>`NOT ${runs}`,
  error: (moment) => sql<boolean>`(${runs} AND ${isFailing(moment)})`,
  active: (moment) => sql<boolean>`(${runs} AND NOT ${isFailing(moment)} AND ${hasReceived})`,
  created: (moment) => sql<boolean>`(${runs} AND NOT ${isFailing(moment)} AND NOT ${hasReceived})`,
}

const withProblem: Readonly<Record<StreamProblem, Condition>> = {
  silent: ({ silentSinceUs }) => {
    const before = counted(sql<boolean>`received > 0 AND last_received_at <= ${silentSinceUs}`)
    return sql<boolean>`(${runs} AND ${before})`
  },
  quarantined: () => counted(sql<boolean>`quarantined > 0`),
  // The second condition of the state is that of the index of alerts that go on.
  firing: () => sql<boolean>`EXISTS (SELECT 1 FROM alerts WHERE alerts.stream_id = data_streams.id
    AND alerts.state = 'firing' AND alerts.state <> 'cleared')`,
  failing: (moment) => sql<boolean>`(${runs} AND ${isFailing(moment)})`,
}

/** The condition that a row of `data_streams` is doing so. */
export function standsSo({ states, problems, ...moment }: Standing): RawBuilder<boolean> {
  const parts = [
    ...(states ? [anyOf(states.map((state) => inState[state](moment)))] : []),
    ...(problems ? [anyOf(problems.map((problem) => withProblem[problem](moment)))] : []),
  ]
  return sql<boolean>`(${sql.join([sql`1 = 1`, ...parts], sql` AND `)})`
}

type Moment = Pick<Standing, 'failing' | 'silentSinceUs'>

function anyOf(conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> {
  return sql<boolean>`(${sql.join(conditions, sql` OR `)})`
}

function counted(condition: RawBuilder<boolean>): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (SELECT 1 FROM stream_counters
    WHERE stream_counters.stream_id = data_streams.id AND ${condition})`
}

function isFailing({ failing }: Moment): RawBuilder<boolean> {
  return sql<boolean>`data_streams.id IN (SELECT value FROM json_each(${JSON.stringify(failing)}))`
}
