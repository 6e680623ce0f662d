import { useId } from 'preact/hooks'
import { useQuery } from '../routing/query.ts'

export interface ChoiceFilterProps {
  readonly label: string
  /** Of the parameter of the address that it is kept in. */
  readonly name: string
  /** Values with their words; that of the empty value stands for no filter. */
  readonly choices: readonly (readonly [value: string, says: string])[]
}

/** A filter of a list, kept in the address. With another filter the list begins at its first page. */
export function ChoiceFilter({ label, name, choices }: ChoiceFilterProps) {
  const id = useId()
  const query = useQuery()
  return (
    <span class="row">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="control choice-filter"
        value={query.get(name)}
        onChange={(event) =>
          query.set({ [name]: event.currentTarget.value, cursor: undefined, page: undefined })
        }
      >
        {choices.map(([value, says]) => (
          <option key={value} value={value}>
            {says}
          </option>
        ))}
      </select>
    </span>
  )
}
