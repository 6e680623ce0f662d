import { useEffect, useRef, useState } from 'preact/hooks'
import { useQuery } from '../routing/query.ts'

/** Keys that are pressed faster than this filter once. */
const typingMs = 150

export interface TypedFilter {
  readonly text: string
  readonly setText: (text: string) => void
}

/** A text that a list is filtered by, kept in the address. With another text the list begins at its first page. */
export function useTypedFilter(name: string): TypedFilter {
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
      query.set({ [name]: text, cursor: undefined, before: undefined, page: undefined })
    }, typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return { text, setText }
}
