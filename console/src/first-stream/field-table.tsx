import { type DraftField, type FieldType, fieldTypes, nameProblem } from './draft.ts'

export interface FieldTableProps {
  readonly fields: readonly DraftField[]
  readonly onFields: (fields: readonly DraftField[]) => void
}

/** The fields of the readings, as they are proposed and may be changed. */
export function FieldTable({ fields, onFields }: FieldTableProps) {
  const change = (key: string, changes: Partial<DraftField>) =>
    onFields(fields.map((field) => (field.key === key ? { ...field, ...changes } : field)))
  return (
    <div class="table-wrap">
      <table class="data cards first-fields">
        <caption class="visually-hidden">Fields of a reading</caption>
        <thead>
          <tr>
            <th scope="col">Keep</th>
            <th scope="col">Field</th>
            <th scope="col">Type</th>
            <th scope="col">Unit</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <FieldRow
              key={field.key}
              field={field}
              problem={field.isKept ? nameProblem(fields, field) : undefined}
              onChange={(changes) => change(field.key, changes)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface FieldRowProps {
  readonly field: DraftField
  readonly problem: string | undefined
  readonly onChange: (changes: Partial<DraftField>) => void
}

function FieldRow({ field: { key, isKept, name, type, unit }, problem, onChange }: FieldRowProps) {
  return (
    <tr data-row>
      <td data-label="Keep">
        <input
          type="checkbox"
          aria-label={`Keep ${key}`}
          checked={isKept}
          onChange={(event) => onChange({ isKept: event.currentTarget.checked })}
        />
      </td>
      <td data-label="Field">
        <span class="first-cell">
          <input
            class="control"
            dir="auto"
            aria-label={`Name of ${key}`}
            aria-invalid={problem === undefined ? undefined : 'true'}
            disabled={!isKept}
            value={name}
            onInput={(event) => onChange({ name: event.currentTarget.value })}
          />
          {problem !== undefined && (
            <span class="problem" role="alert">
              {problem}
            </span>
          )}
        </span>
      </td>
      <td data-label="Type">
        <select
          class="control"
          aria-label={`Type of ${key}`}
          disabled={!isKept}
          value={type}
          onChange={(event) => onChange({ type: event.currentTarget.value as FieldType })}
        >
          {fieldTypes.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </td>
      <td data-label="Unit">
        <input
          class="control first-unit"
          dir="auto"
          aria-label={`Unit of ${key}`}
          disabled={!isKept}
          value={unit}
          onInput={(event) => onChange({ unit: event.currentTarget.value })}
        />
      </td>
    </tr>
  )
}
