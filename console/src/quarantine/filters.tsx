import { serviceNowMs } from '../api/service-clock.ts'
import { ChoiceFilter } from '../components/choice-filter.tsx'
import type { QueryState } from '../routing/query.ts'
import { reasonWords } from './reasons.ts'

const spans = [
  ['', 'any time'],
  ['1h', 'the last hour'],
  ['24h', 'the last day'],
  ['7d', 'the last week'],
] as const

const unitsMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

/** The beginning of a span like `24h`; empty for any other text. */
export function startOf(within: string): string {
  const [, amount, unit = ''] = /^([1-9]\d{0,3})([hd])$/.exec(within) ?? []
  const lengthMs = Number(amount) * (unitsMs[unit] ?? Number.NaN)
  return Number.isNaN(lengthMs) ? '' : new Date(serviceNowMs() - lengthMs).toISOString()
}

export interface FiltersProps {
  readonly query: QueryState
  readonly reasons: readonly { readonly reason: string }[]
}

export function Filters({ query, reasons }: FiltersProps) {
  const known = reasons.map(({ reason }) => reason)
  const chosen = query.get('reason')
  const all = chosen === '' || known.includes(chosen) ? known : [...known, chosen]
  return (
    <div class="row">
      <ChoiceFilter
        label="Reason"
        name="reason"
        choices={[['', 'any'], ...all.map((reason) => [reason, reasonWords(reason).name] as const)]}
      />
      <ChoiceFilter label="Received" name="within" choices={spans} />
    </div>
  )
}
