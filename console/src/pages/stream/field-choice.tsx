import { SlidersHorizontal } from 'lucide'
import { useId } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import type { StoredField } from '../../formats/stored-fields.ts'
import { drawnMax, fieldsParameter } from './field-names.ts'

export interface FieldChoiceProps {
  readonly fields: readonly StoredField[]
  readonly drawn: readonly StoredField[]
  /** The parameter of the address that names them. */
  readonly onChoose: (parameter: string) => void
}

/** Which fields are drawn. */
export function FieldChoice({ fields, drawn, onChoose }: FieldChoiceProps) {
  const id = useId()
  if (fields.length < 2) return null
  const names = drawn.map(({ name }) => name)
  const toggle = (name: string, isOn: boolean) => {
    const chosen = isOn ? [...names, name] : names.filter((one) => one !== name)
    if (chosen.length > 0) onChoose(fieldsParameter(chosen))
  }
  return (
    <>
      <button type="button" class="button" popovertarget={id}>
        <Icon of={SlidersHorizontal} />
        Fields {drawn.length} of {fields.length}
      </button>
      <div
        id={id}
        popover="auto"
        class="menu stream-field-menu"
        role="group"
        aria-label="Fields that are drawn"
      >
        {fields.map(({ name, unit }) => (
          <label key={name} class="row">
            <input
              type="checkbox"
              checked={names.includes(name)}
              disabled={names.includes(name) ? names.length === 1 : names.length >= drawnMax}
              onChange={(event) => toggle(name, event.currentTarget.checked)}
            />
            <bdi>{name}</bdi>
            {unit !== undefined && <span class="soft">{unit}</span>}
          </label>
        ))}
        {fields.length > drawnMax && <p class="soft">At most {drawnMax} at once.</p>}
      </div>
    </>
  )
}
