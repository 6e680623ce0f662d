import { useEffect, useRef } from 'preact/hooks'
import { Field } from '../../../components/field.tsx'
import { boundsOf, type FieldChange, fieldTypes } from './fields.ts'

type Json = Readonly<Record<string, unknown>>

export interface FieldFormProps {
  readonly name: string
  readonly definition: Json
  readonly onChange: (change: FieldChange) => void
  readonly onRemove: () => void
  readonly onClose: () => void
}

/** What is changed of a field most: all else is in the JSON. */
export function FieldForm({ name, definition, onChange, onRemove, onClose }: FieldFormProps) {
  const form = useRef<HTMLFieldSetElement>(null)
  useEffect(() => form.current?.querySelector('select')?.focus(), [])
  const { min, max } = boundsOf(definition)
  const { type } = definition
  const isNumber = type === 'number' || type === 'integer'
  return (
    <fieldset ref={form} class="definition-form">
      <legend class="visually-hidden">Field {name}</legend>
      <Field
        label="Type"
        control={(tied) => (
          <select
            {...tied}
            value={String(type)}
            onChange={(event) => onChange({ type: event.currentTarget.value })}
          >
            {fieldTypes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      />
      <Field
        label="Unit"
        control={(tied) => (
          <input
            {...tied}
            defaultValue={typeof definition['unit'] === 'string' ? definition['unit'] : ''}
            onInput={(event) => onChange({ unit: event.currentTarget.value.trim() })}
          />
        )}
      />
      {isNumber && (
        <Bound label="Lowest" value={min} onValue={(value) => onChange({ min: value })} />
      )}
      {isNumber && (
        <Bound label="Highest" value={max} onValue={(value) => onChange({ max: value })} />
      )}
      <label class="row">
        <input
          type="checkbox"
          checked={definition['required'] === true}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
        Required
      </label>
      <Ends name={name} onRemove={onRemove} onClose={onClose} />
    </fieldset>
  )
}

function Ends({ name, onRemove, onClose }: Pick<FieldFormProps, 'name' | 'onRemove' | 'onClose'>) {
  return (
    <div class="row">
      <button type="button" class="button" onClick={onClose}>
        Done
      </button>
      <button type="button" class="button danger" onClick={onRemove}>
        Remove {name}
      </button>
    </div>
  )
}

interface BoundProps {
  readonly label: string
  readonly value: unknown
  readonly onValue: (value: number | undefined) => void
}

function Bound({ label, value, onValue }: BoundProps) {
  return (
    <Field
      label={label}
      control={(tied) => (
        <input
          {...tied}
          type="number"
          step="any"
          defaultValue={typeof value === 'number' ? String(value) : ''}
          onInput={(event) => {
            const { valueAsNumber } = event.currentTarget
            onValue(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber)
          }}
        />
      )}
    />
  )
}
