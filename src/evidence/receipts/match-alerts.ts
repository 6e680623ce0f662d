import { parseJson } from '../../core/parse-json.ts'
import type { EntriesAt } from '../../reading/live/entries-at.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import { expired, notInJournal, notKept, removed } from './find-readings.ts'
import type { FoundReading, Missing } from './found-reading.ts'
import { type AlertStep, isOfValues } from './moved-alerts.ts'

interface MatchNeeds {
  readonly timestampUs: number
  readonly journal: EntriesAt
  readonly counts: Pick<StoredCounts, 'deleted' | 'keptFromUs' | 'unchanged'>
}

/**
 * Finds which reading caused which steps: by its place in the journal, and where that is not known, by its values. Steps
 * without a reading show one that is gone.
 */
export function matchAlerts(
  readings: readonly FoundReading[],
  steps: readonly AlertStep[],
  needs: MatchNeeds,
): readonly FoundReading[] {
  const byOffset = Map.groupBy(steps, ({ journalOffset }) => journalOffset)
  const matched = readings.map((reading): FoundReading => {
    const offset = reading.offset ?? offsetByValues(reading, readings, byOffset)
    const own = offset === undefined ? undefined : byOffset.get(offset)
    if (offset === undefined || own === undefined) return reading
    byOffset.delete(offset)
    return { ...reading, offset, steps: own }
  })
  return [...matched, ...[...byOffset.values()].map((own) => goneReading(own, needs))]
}

/** The history has the place in the journal of a reading that moved an alert. */
function offsetByValues(
  { point }: FoundReading,
  readings: readonly FoundReading[],
  byOffset: ReadonlyMap<number, readonly AlertStep[]>,
): number | undefined {
  if (point === undefined) return undefined
  const taken = new Set(readings.map(({ offset }) => offset))
  for (const [offset, [step]] of byOffset) {
    if (!taken.has(offset) && step && isOfValues(step, point.values)) return offset
  }
  return undefined
}

function goneReading(steps: readonly AlertStep[], needs: MatchNeeds): FoundReading {
  const { timestampUs } = needs
  const [first] = steps
  const values = parseJson(first?.reading ?? '{}') as Readonly<Record<string, unknown>>
  const message = 'The history of the alert has the declared fields of the reading only.'
  const reason = whyGone(needs)
  return {
    outcome: reason === undefined ? 'unchanged' : 'gone',
    point: { timestampUs, values },
    isComplete: false,
    digest: undefined,
    flagged: [],
    receivedAtUs: first?.receivedAtUs,
    kind: 'received',
    sender: undefined,
    offset: first?.journalOffset,
    journalProblem: notInJournal(needs.journal),
    version: undefined,
    refusal: undefined,
    steps,
    missing: [...(reason ? [reason] : []), { what: 'text', reason: 'not_kept', message }],
  }
}

/** Undefined for one that was never stored, as it said the same as the one before. */
function whyGone({ timestampUs, counts }: MatchNeeds): Missing | undefined {
  if (timestampUs < counts.keptFromUs) return expired
  if (counts.deleted > 0) return counts.unchanged > 0 ? notKept : removed
  return counts.unchanged > 0 ? undefined : notKept
}
