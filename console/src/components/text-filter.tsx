import { useId } from 'preact/hooks'
import { useTypedFilter } from './typed-filter.ts'

export interface TextFilterProps {
  readonly label: string
  /** Of the parameter of the address that it is kept in. */
  readonly name: string
}

/** A text that a list is filtered by, kept in the address. With another text the list begins at its first page. */
export function TextFilter({ label, name }: TextFilterProps) {
  const id = useId()
  const { text, setText } = useTypedFilter(name)
  return (
    <span class="row">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        class="control"
        dir="auto"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </span>
  )
}
