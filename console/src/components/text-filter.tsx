import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useQuery } from '../routing/query.ts'

export interface TextFilterProps {
  readonly label: string
  /** Of the parameter of the address that it is kept in. */
  readonly name: string
}

/** Keys that are pressed faster than this filter once. */
const typingMs = 150

/** A text that a list is filtered by, kept in the address. With another text the list begins at its first page. */
export function TextFilter({ label, name }: TextFilterProps) {
  const id = useId()
  const query = useQuery()
  const kept = query.get(name)
  const [text, setText] = useState(kept)
  const sent = useRef(kept)
  useEffect(() => {
    // Somebody went back, or took a link: what is typed yields to the address.
    if (kept !== sent.current) setText(kept)
    sent.current = kept
  }, [kept])
  useEffect(() => {
    if (text === kept) return undefined
    const timer = setTimeout(() => {
      sent.current = text
      query.set({ [name]: text, cursor: undefined, page: undefined })
    }, typingMs)
    return () => clearTimeout(timer)
  }, [text])
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
