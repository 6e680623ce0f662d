import type { Operations } from '../../../clients/typescript/call.ts'
import { api } from '../api/client.ts'
import type { Portion } from './targets.ts'

export type Entry = Operations['listQuarantineOfAll']['answer']['entries'][number]
export type Summary = Operations['summarizeQuarantineOfAll']['answer']

/** Which entries are meant. */
export interface EntryFilter {
  /** Empty: of all streams. */
  readonly streamId: string
  /** Empty: for any reason. */
  readonly reason: string
  /** Received then or later; empty: whenever. */
  readonly start: string
}

/** Entries of one page: their bytes are 4 MiB at most, whatever they are. */
const entriesPerPage = 50

/** Streams with a reason that are named beside the list. */
const groupsMax = 1_000

export async function listEntries(filter: EntryFilter, cursor: string, signal?: AbortSignal) {
  const query = {
    streamId: filter.streamId || undefined,
    reason: filter.reason || undefined,
    start: filter.start || undefined,
    cursor: cursor || undefined,
    limit: entriesPerPage,
  }
  return await api.call('listQuarantineOfAll', { query, signal })
}

/** Counts the entries of all streams; those of the one that is meant are among them, however few it has. */
export async function summarize(streamId: string, signal?: AbortSignal): Promise<Summary> {
  const query = { limit: groupsMax }
  const summary = await api.call('summarizeQuarantineOfAll', { query, signal })
  if (streamId === '' || !isCut(summary)) return summary
  const path = { streamId }
  const [{ reasons }, { name }] = await Promise.all([
    api.call('summarizeQuarantine', { path, signal }),
    api.call('readStream', { path, signal }),
  ])
  const own = reasons.map((counted) => ({ streamId, streamName: name, ...counted }))
  const others = summary.groups.filter((group) => group.streamId !== streamId)
  return { ...summary, groups: [...own, ...others] }
}

/** How many entries meet a filter; undefined where only a part of the time is meant. */
export function countOf(
  summary: Summary,
  { streamId, reason, start }: EntryFilter,
): number | undefined {
  if (start !== '') return undefined
  if (streamId !== '') return sumOf(groupsOf(summary, { streamId, reason }))
  return sumOf(summary.reasons.filter((one) => reason === '' || one.reason === reason))
}

/** What "all" can mean of a filter: streams are acted on one by one, and those with the most are known by name. */
export interface Reach {
  /** Some streams with few entries are left out. */
  readonly isPart: boolean
  /** Undefined where it is not counted. */
  readonly entries: number | undefined
}

export function reachOf(summary: Summary, filter: EntryFilter): Reach {
  const named = sumOf(groupsOf(summary, filter))
  const all = countOf(summary, { ...filter, start: '' }) ?? named
  return { isPart: named < all, entries: filter.start === '' ? named : undefined }
}

/** What all that meet a filter are asked for by; of a part, only the reasons that are counted of each stream. */
export function portionsOf(summary: Summary, filter: EntryFilter): readonly Portion[] {
  const groups = groupsOf(summary, filter)
  if (!reachOf(summary, filter).isPart) return streamsOf(groups)
  return groups.map(({ streamId, streamName: name, reason, entries }) => ({
    streamId,
    name,
    reason,
    entries,
  }))
}

function isCut({ groupCount, groups }: Summary): boolean {
  return groupCount > groups.length
}

function sumOf(counted: readonly { readonly entries: number }[]): number {
  return counted.reduce((sum, { entries }) => sum + entries, 0)
}

export function groupsOf(summary: Summary, { streamId, reason }: Omit<EntryFilter, 'start'>) {
  return summary.groups.filter(
    (group) =>
      (streamId === '' || group.streamId === streamId) &&
      (reason === '' || group.reason === reason),
  )
}

/** Streams with their names and counts, the one with the most first. */
export function streamsOf(groups: Summary['groups']): readonly Portion[] {
  const streams = new Map<string, { readonly name: string; entries: number }>()
  for (const { streamId, streamName, entries } of groups) {
    const known = streams.get(streamId)
    if (known) known.entries += entries
    else streams.set(streamId, { name: streamName, entries })
  }
  return [...streams]
    .map(([streamId, { name, entries }]) => ({ streamId, name, entries }))
    .sort((one, other) => other.entries - one.entries)
}

/** An entry by its place: ids are those of a stream. */
export function keyOf({ streamId, id }: Pick<Entry, 'streamId' | 'id'>): string {
  return `${streamId}/${id}`
}
