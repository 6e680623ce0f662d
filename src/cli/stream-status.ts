import { record } from './table.ts'

/** How a data stream is doing, as far as it is shown. */
export interface StreamStatus {
  readonly status: string
  readonly lastDataReceived: string | null
  readonly dataPointsToday: number
  readonly firing: { readonly alerts: number; readonly severity: string | null }
  readonly health: { readonly status: string; readonly problem?: string }
  readonly deleted: number
  readonly expired: number
  readonly counters: Counters
  readonly source?: SourceStatus
  readonly webhook?: { readonly messages: number; readonly refused: number }
}

/** The terms whose sum is what was received (docs/architecture.md#counts-that-add-up). */
interface Counters {
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly unchanged: number
  readonly filtered: number
  readonly quarantined: number
  readonly discarded: number
  readonly pending: number
}

interface SourceStatus {
  readonly state: string
  readonly messages: number
  readonly lastError?: string
  readonly lastMessage: string | null
}

const terms: readonly (readonly [name: Exclude<keyof Counters, 'received'>, meaning: string])[] = [
  ['stored', 'kept as readings'],
  ['duplicates', 'the same reading again: kept once'],
  ['unchanged', 'left out, because the definition deduplicates'],
  ['filtered', 'left out by the filter of the definition'],
  ['quarantined', 'refused, and kept with the reason'],
  ['discarded', 'refused, and deleted from the quarantine or not taken by the store'],
  ['pending', 'acknowledged, and on the way to the store'],
]

/** All that a status says, and a sum that a reader can check line by line. */
export function statusText(found: StreamStatus): string {
  return [record(factsOf(found)), '', ...sumOf(found.counters), '', ...storedOf(found)].join('\n')
}

function factsOf(found: StreamStatus): Record<string, string> {
  const { status, health, firing, source, webhook } = found
  return {
    status,
    health: [health.status, health.problem].filter(Boolean).join(': '),
    'last data': found.lastDataReceived ?? 'never',
    today: `${found.dataPointsToday} readings`,
    'firing alerts': [firing.alerts, firing.severity].filter((one) => one !== null).join(', '),
    ...(source && { source: `${source.state}, ${source.messages} messages` }),
    ...(source?.lastError !== undefined && { 'last error': source.lastError }),
    ...(webhook && { webhook: `${webhook.messages} messages, ${webhook.refused} refused` }),
  }
}

/** What was received, and below it each term of it. */
function sumOf(counters: Counters): string[] {
  const rows = terms.map(([name, meaning], index): readonly [string, number, string] => [
    `${index === 0 ? '=' : '+'} ${name}`,
    counters[name],
    meaning,
  ])
  return lined([['received', counters.received, 'readings that were acknowledged'], ...rows])
}

/** What is left of the stored readings. */
function storedOf({ counters: { stored }, deleted, expired }: StreamStatus): string[] {
  return lined([
    ['stored', stored, ''],
    ['= readable now', stored - deleted - expired, ''],
    ['+ deleted', deleted, 'removed by a user'],
    ['+ expired', expired, 'older than the retention'],
  ])
}

function lined(rows: readonly (readonly [string, number, string])[]): string[] {
  const [names, counts] = [16, Math.max(...rows.map(([, count]) => String(count).length))]
  return rows.map(([name, count, meaning]) =>
    `${name.padEnd(names)}${String(count).padStart(counts)}  ${meaning}`.trimEnd(),
  )
}
