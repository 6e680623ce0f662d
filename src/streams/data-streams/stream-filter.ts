import { durationUs } from '../../core/duration.ts'
import { invalidParameter } from '../../core/errors.ts'
import { parseId, type StreamId, type UserId, type VaultId } from '../../core/ids.ts'
import { choiceHint, hintedMax, joinedHints } from '../../core/suggestions.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { fetchedStreams, sourceStateOf } from './fetched-streams.ts'
import type { StreamFilter } from './stream-list.ts'
import { type SourceStatus, sourceStates } from './stream-sources.ts'
import { type Standing, streamProblems } from './stream-standing.ts'
import { streamStates } from './stream-state.ts'
import { tagProblem, tagsMax } from './tags.ts'

/** A query that was held to its schema: what it holds beside the names here are tags. */
interface Query {
  readonly vaultId?: string
  readonly name?: string
}

/** The query of a list. */
interface ListQuery extends Query {
  readonly contains?: string
  readonly state?: string
  readonly problem?: string
  readonly silentAfter?: string
}

const tagPrefix = 'tag.'

/** For how long a stream receives nothing until it is silent, where nobody says. */
const silentAfterDefault = '15m'

/**
 * What the query of a list asks for: `vaultId`, `name` (whole, or its beginning and `*`), and one
 * `tag.NAME` for each tag.
 *
 * @throws DomainError `invalid_request`
 */
export function streamFilter(query: Query): StreamFilter {
  const tagged = Object.entries(query).filter(([name]) => name.startsWith(tagPrefix))
  if (tagged.length > tagsMax) throw invalidParameter('tag', `came more than ${tagsMax} times`)
  const { vaultId, name } = query
  return {
    ...(vaultId !== undefined && { vaultId: vaultIdOf(vaultId) }),
    ...(name !== undefined && { name: nameOf(name) }),
    tags: Object.fromEntries(tagged.map(([parameter, value]) => tagOf(parameter, value))),
  }
}

/** What filters for states and problems have to know of this moment. */
export interface FilterNeeds {
  readonly sources: { failing(): readonly StreamId[] }
  readonly nowUs: () => number
}

/**
 * The filter of a list, which can ask for a part of the name, and for how streams are doing, as well.
 *
 * @throws DomainError `invalid_request`
 */
export function listFilter(query: ListQuery, needs: FilterNeeds): StreamFilter {
  const { contains } = query
  const standing = standingOf(query, needs)
  return {
    ...streamFilter(query),
    ...(contains !== undefined && { contains }),
    ...(standing && { standing }),
  }
}

function standingOf(
  { state, problem, silentAfter = silentAfterDefault }: ListQuery,
  { sources, nowUs }: FilterNeeds,
): Standing | undefined {
  const silentAfterUs = durationUs(silentAfter)
  if (silentAfterUs === undefined) {
    throw invalidParameter('silentAfter', 'must be a duration such as 30s, 15m, 6h or 1d')
  }
  if (state === undefined && problem === undefined) return undefined
  return {
    ...(state !== undefined && { states: someOf('state', state, streamStates) }),
    ...(problem !== undefined && { problems: someOrAny('problem', problem, streamProblems) }),
    failing: sources.failing(),
    silentSinceUs: nowUs() - silentAfterUs,
  }
}

/** What a filter for sources has to look at. */
export interface SourceFilterNeeds {
  readonly state: StateDatabase
  readonly sources: { statusOf(id: StreamId): SourceStatus | undefined }
}

/**
 * The part of the filter of a list that asks for states of sources: streams that have none do not meet it.
 *
 * @throws DomainError `invalid_request`
 */
export async function sourceFilter(
  { source }: { readonly source?: string },
  { state, sources }: SourceFilterNeeds,
  ownerId: UserId,
): Promise<Pick<StreamFilter, 'ids'>> {
  if (source === undefined) return {}
  const states = someOrAny('source', source, sourceStates)
  const fetched = await fetchedStreams(state, ownerId, (id) => sources.statusOf(id))
  const met = fetched.filter((stream) => states.includes(sourceStateOf(stream)))
  return { ids: met.map(({ streamId }) => streamId) }
}

/** The values of a comma list; all of them where `any` is among them. */
function someOrAny<Value extends string>(
  parameter: string,
  text: string,
  values: readonly Value[],
): readonly Value[] {
  const given = someOf<Value | 'any'>(parameter, text, [...values, 'any'])
  return given.includes('any') ? values : values.filter((value) => given.includes(value))
}

/** The values of a comma list. */
function someOf<Value extends string>(
  parameter: string,
  text: string,
  values: readonly Value[],
): readonly Value[] {
  const words = text.split(',')
  const given = words.map((word) => values.find((value) => value === word))
  if (given.some((value) => value === undefined)) {
    const wrong = words.filter((word) => !values.some((value) => value === word))
    const hint = joinedHints(
      wrong.slice(0, hintedMax).map((word) => choiceHint(word, values, parameter)),
    )
    throw invalidParameter(parameter, `must be one or several of ${values.join(', ')}`, hint)
  }
  return [...new Set(given.filter((value) => value !== undefined))]
}

function vaultIdOf(text: string): VaultId {
  const id = parseId<VaultId>(text)
  if (id === undefined) throw invalidParameter('vaultId', 'must be a uuid')
  return id
}

function nameOf(text: string): { readonly text: string; readonly isPrefix: boolean } {
  const isPrefix = text.endsWith('*')
  const wanted = isPrefix ? text.slice(0, -1) : text
  return { text: wanted.toLowerCase(), isPrefix }
}

function tagOf(parameter: string, value: unknown): readonly [string, string] {
  const name = parameter.slice(tagPrefix.length)
  const problem = tagProblem(name, value)
  if (problem !== undefined) throw invalidParameter(parameter, problem)
  return [name, String(value)]
}
