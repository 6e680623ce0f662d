import { RefreshCw } from 'lucide'
import { instantOf, shownAt } from '../../../charts/zone-clock.ts'
import { Icon } from '../../../components/icon.tsx'
import { zone } from '../../../formats/times.ts'
import { type ChosenRange, presets, wordsOf } from './range.ts'

export interface RangeChoiceProps {
  readonly range: ChosenRange
  readonly onChoose: (
    parameters: Readonly<Record<string, string | undefined>>,
    how?: 'push',
  ) => void
  readonly onNow: () => void
}

/** Which time is shown: up to now, or between two times on the clocks of the chosen zone. */
export function RangeChoice({ range, onChoose, onNow }: RangeChoiceProps) {
  return (
    <>
      <div class="row stream-presets" role="group" aria-label="Range">
        {Object.keys(presets).map((name) => (
          <button
            key={name}
            type="button"
            class="button"
            aria-pressed={range.preset === name}
            onClick={() => onChoose({ range: name, start: undefined, end: undefined }, 'push')}
          >
            {name}
          </button>
        ))}
        {range.preset !== undefined && (
          <button type="button" class="plain" onClick={onNow}>
            <Icon of={RefreshCw} label="Up to now" />
          </button>
        )}
      </div>
      <div
        class="row stream-range"
        role="group"
        aria-label={`Range, on the clocks of ${zone.value}`}
      >
        <TimeInput
          label="From"
          atMs={range.fromMs}
          onChoose={(fromMs) => onChoose(wordsOf({ ...range, fromMs }), 'push')}
        />
        <TimeInput
          label="to"
          atMs={range.toMs}
          onChoose={(toMs) => onChoose(wordsOf({ ...range, toMs }), 'push')}
        />
      </div>
    </>
  )
}

interface TimeInputProps {
  readonly label: string
  readonly atMs: number
  readonly onChoose: (atMs: number) => void
}

function TimeInput({ label, atMs, onChoose }: TimeInputProps) {
  const shown = shownAt(atMs, zone.value).toISOString().slice(0, 19)
  return (
    <label class="row">
      {label}
      <input
        class="control"
        type="datetime-local"
        step={1}
        value={shown}
        onChange={({ currentTarget: { value } }) => {
          const typedMs = Date.parse(`${value}Z`)
          if (!Number.isNaN(typedMs) && value !== shown) onChoose(instantOf(typedMs, zone.value))
        }}
      />
    </label>
  )
}
