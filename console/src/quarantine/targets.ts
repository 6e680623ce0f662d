/** Entries of one stream that something is done with: these, or all that meet what is said. */
export interface Target {
  readonly streamId: string
  readonly name: string
  readonly ids?: readonly number[]
  readonly reason?: string
  readonly start?: string
  /** How many that are, where it is known. */
  readonly entries: number | undefined
}

/** Something that is asked for one by one: a stream, or only one of its reasons. */
export interface Portion {
  readonly streamId: string
  readonly name: string
  readonly reason?: string
  readonly entries: number
}

export interface ChosenEntry {
  readonly streamId: string
  readonly streamName: string
  readonly id: number
}

/** One request names so many at most, so that there is something to say while it goes on. */
const idsPerCall = 500

/** Chosen entries, stream by stream, in portions. */
export function targetsOfChosen(chosen: Iterable<ChosenEntry>): readonly Target[] {
  const streams = new Map<string, { readonly name: string; readonly ids: number[] }>()
  for (const { streamId, streamName, id } of chosen) {
    const known = streams.get(streamId)
    if (known) known.ids.push(id)
    else streams.set(streamId, { name: streamName, ids: [id] })
  }
  return [...streams].flatMap(([streamId, { name, ids }]) => {
    const sorted = ids.toSorted((one, other) => one - other)
    return portionsOf(sorted).map((some) => ({ streamId, name, ids: some, entries: some.length }))
  })
}

/** All entries that meet a filter, portion by portion. */
export function targetsOfFilter(
  portions: readonly Portion[],
  { reason: wanted, start }: { readonly reason: string; readonly start: string },
): readonly Target[] {
  return portions.map(({ streamId, name, reason = wanted, entries }) => ({
    streamId,
    name,
    ...(reason !== '' && { reason }),
    ...(start !== '' && { start }),
    entries: start === '' ? entries : undefined,
  }))
}

/** Whether an entry that meets the filter is one of what was chosen by it, where that is only a part. */
export function isMeantBy(
  targets: readonly Target[],
): (entry: { readonly streamId: string; readonly reason: string }) => boolean {
  const meant = new Set(targets.map(({ streamId, reason = '' }) => `${streamId}/${reason}`))
  return ({ streamId, reason }) => meant.has(`${streamId}/`) || meant.has(`${streamId}/${reason}`)
}

function portionsOf(ids: readonly number[]): readonly (readonly number[])[] {
  const count = Math.ceil(ids.length / idsPerCall)
  return Array.from({ length: count }, (_, at) => ids.slice(at * idsPerCall, (at + 1) * idsPerCall))
}
