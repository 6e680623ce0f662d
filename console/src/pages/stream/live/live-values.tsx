import type { StoredField } from '../../../formats/stored-fields.ts'
import { computedText, valueText } from '../../../formats/values.ts'
import type { LiveReadings } from './live-readings.ts'

export interface LiveValuesProps {
  readonly fields: readonly StoredField[]
  readonly readings: LiveReadings
  readonly beat: number
}

const shownMax = 12

/** Characters of a value that are shown large. */
const lengthMax = 40

/** The last value of each field, large. */
export function LiveValues({ fields, readings }: LiveValuesProps) {
  const shown = fields.filter(({ name }) => readings.last.has(name)).slice(0, shownMax)
  if (shown.length === 0) return null
  return (
    <dl class="stream-values">
      {shown.map(({ name, unit }) => {
        const value = readings.last.get(name)
        // All digits are in the title and in the table: seventeen of them are no figure to look at.
        const text = computedText(value)
        return (
          <div key={name} class="stream-value">
            <dt title={name}>
              <bdi>{name}</bdi>
            </dt>
            <dd title={valueText(value)}>
              <bdi class="figure">
                {text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text}
              </bdi>{' '}
              {unit !== undefined && <span class="soft">{unit}</span>}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
