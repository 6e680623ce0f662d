import type { UserId } from '../../core/ids.ts'
import { readingText } from '../../ledgers/seals/reading-text.ts'
import { hasWindows } from '../../reading/windows/defined-windows.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import type { FoundReading } from './found-reading.ts'
import { type AskWindows, type HoldingWindow, windowAt } from './holding-window.ts'
import { missingOf } from './missing-facts.ts'
import { type AlertStep, followingSteps } from './moved-alerts.ts'
import type { TracedReading } from './receipt-body.ts'
import { type ReadingSeal, type SealNeeds, SealsOfTime } from './seal-of-reading.ts'
import { noticesOf } from './sent-notices.ts'
import type { StreamVersions } from './stream-versions.ts'

export interface TraceNeeds extends Pick<SealNeeds, 'seals'> {
  readonly state: StateDatabase
  /** Each may throw DomainError `store_unavailable`, `overloaded` or `query_too_slow`. */
  readonly store: SealNeeds['store'] & { readonly windows: AskWindows }
}

/** A time of a stream, and who asks about it. */
export interface AskedTime {
  readonly stream: DataStream
  readonly ownerId: UserId
  readonly timestampUs: number
}

interface Found {
  readonly found: readonly FoundReading[]
  readonly versions: StreamVersions
  /** Whether there are more steps of alerts. */
  readonly cut: boolean
}

/** Looks up what has to do with some readings of one time. */
export async function tracedReadings(
  needs: TraceNeeds,
  { stream, ownerId, timestampUs }: AskedTime,
  { found, versions, cut }: Found,
): Promise<readonly TracedReading[]> {
  const { state } = needs
  const following = await followingSteps(
    state,
    found.flatMap(({ steps }) => steps),
  )
  const stepsOf = ({ steps }: FoundReading) => [
    ...steps,
    ...following.filter((next) => steps.some((one) => isNext(one, next))),
  ]
  const steps = found.flatMap(stepsOf)
  const named = steps.flatMap(({ eventId, alertId }) => (eventId ? [{ eventId, alertId }] : []))
  const notices = await noticesOf(state, ownerId, named)
  const window = found.some(({ outcome }) => outcome === 'stored')
    ? await windowOf(needs, { stream, timestampUs }, versions)
    : undefined
  const seals = await SealsOfTime.read(needs, stream.id, timestampUs)
  return await Promise.all(
    found.map(async (one): Promise<TracedReading> => {
      const own = stepsOf(one)
      const events = own.flatMap(({ eventId }) => notices.events.get(eventId ?? '') ?? [])
      return {
        found: one,
        stream,
        version: await versionOf(versions, one),
        window: one.outcome === 'stored' ? window : undefined,
        steps: own,
        events: [...new Set(events)],
        seal: await sealOf(seals, stream.id, one),
        missing: missingOf(one, { events, isCut: cut || notices.hasMore }),
      }
    }),
  )
}

function isNext(one: AlertStep, next: AlertStep): boolean {
  return next.alertId === one.alertId && next.step === one.step + 1
}

async function windowOf(
  { store }: TraceNeeds,
  { stream, timestampUs }: { readonly stream: DataStream; readonly timestampUs: number },
  versions: StreamVersions,
): Promise<HoldingWindow | undefined> {
  const { version, processing } = stream
  const earlier = version === 1 ? [] : await versions.newest()
  const definitions = [stream, ...earlier.map(({ definition }) => definition)]
  if (!hasWindows(processing) && earlier.length === 0) return undefined
  const wanted = { streamId: stream.id, timestampUs }
  return await windowAt((query) => store.windows(query), wanted, definitions)
}

/** The version that its entry names; else the newest one when it came in. */
async function versionOf(
  versions: StreamVersions,
  { version, receivedAtUs }: FoundReading,
): Promise<TracedReading['version']> {
  const isExact = version !== undefined
  const facts = isExact
    ? await versions.numbered(version)
    : await versions.newestAt(receivedAtUs ?? 0)
  const protocol = facts?.definition.source['protocol']
  return {
    number: version ?? facts?.version,
    createdAtUs: facts?.createdAtUs,
    protocol: typeof protocol === 'string' ? protocol : undefined,
    isExact,
  }
}

/** Readings that were never stored have none. */
async function sealOf(
  seals: SealsOfTime,
  streamId: string,
  { outcome, point, isComplete }: FoundReading,
): Promise<ReadingSeal | undefined> {
  if (point === undefined || !isComplete) return undefined
  if (outcome !== 'stored' && outcome !== 'gone') return undefined
  const { timestampUs } = point
  const text = readingText(streamId, point)
  return await seals.of({ timestampUs, text, isStored: outcome === 'stored' })
}
