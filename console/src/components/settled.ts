import { useEffect, useState } from 'preact/hooks'

/** Keys that are pressed faster than this count as one change. */
const typingMs = 250

/** What is typed, once nobody has typed for a moment. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
