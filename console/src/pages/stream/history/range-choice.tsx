import { RefreshCw } from 'lucide'
import { useState } from 'preact/hooks'
import type { TimeRange } from '../../../charts/field-plot.ts'
import { Icon } from '../../../components/icon.tsx'
import { zone } from '../../../formats/times.ts'
import {
  type ChosenRange,
  clockText,
  greatestTime,
  leastTime,
  presets,
  typedRange,
  wordsOf,
} from './range.ts'

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
      <OwnRange
        key={`${range.fromMs} ${range.toMs} ${zone.value}`}
        range={range}
        onChoose={(own) => onChoose(wordsOf(own), 'push')}
      />
    </>
  )
}

interface OwnRangeProps {
  readonly range: TimeRange
  readonly onChoose: (range: TimeRange) => void
}

/** Both ends of a range. Nothing is asked for while one types: a year is `0002` on the way to `2026`. */
function OwnRange({ range, onChoose }: OwnRangeProps) {
  const shown = { from: clockText(range.fromMs, zone.value), to: clockText(range.toMs, zone.value) }
  const [typed, setTyped] = useState(shown)
  const chosen = typedRange(range, typed, zone.value)
  const isChanged = typed.from !== shown.from || typed.to !== shown.to
  const isTurned = chosen.fromMs >= chosen.toMs
  return (
    <form
      class="row stream-range"
      aria-label={`Range, on the clocks of ${zone.value}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged && chosen.fromMs < chosen.toMs) onChoose(chosen)
      }}
    >
      <TimeInput
        label="From"
        value={typed.from}
        onType={(from) => setTyped((before) => ({ ...before, from }))}
      />
      <TimeInput
        label="to"
        value={typed.to}
        onType={(to) => setTyped((before) => ({ ...before, to }))}
      />
      {isChanged && (
        <button type="submit" class="button primary" disabled={isTurned}>
          Show
        </button>
      )}
      {isTurned && <span role="alert">It has to begin before it ends.</span>}
    </form>
  )
}

interface TimeInputProps {
  readonly label: string
  readonly value: string
  readonly onType: (value: string) => void
}

function TimeInput({ label, value, onType }: TimeInputProps) {
  return (
    <label class="row">
      {label}
      <input
        class="control"
        type="datetime-local"
        step={1}
        min={leastTime}
        max={greatestTime}
        required
        value={value}
        onInput={({ currentTarget }) => onType(currentTarget.value)}
      />
    </label>
  )
}
