import { useEffect, useState } from 'preact/hooks'
import { type Failure, failureOf, isAborted } from '../../api/failure.ts'
import { may } from '../../api/session.ts'
import { type Found, foundPages } from './found.ts'
import { searchKinds } from './search-kinds.ts'

/** Keys that are pressed faster than this ask once. */
const typingMs = 150

export interface FoundGroup {
  readonly name: string
  readonly found: readonly Found[]
  readonly failure: Failure | undefined
}

export interface SearchResult {
  readonly groups: readonly FoundGroup[]
  readonly isSearching: boolean
}

type Answers = Readonly<Record<string, FoundGroup>>

/** What has the text in its name or id. A search that is overtaken by the next one is given up. */
export function useFound(text: string): SearchResult {
  const wanted = text.trim()
  const [answers, setAnswers] = useState<Answers>({})
  // What the answers are of: until it is what is wanted, they are those of the text before.
  const [answered, setAnswered] = useState('')
  useEffect(() => {
    if (wanted === '') {
      setAnswers({})
      setAnswered('')
      return undefined
    }
    const abort = new AbortController()
    const timer = setTimeout(() => {
      const keep = (group: FoundGroup) => {
        if (!abort.signal.aborted) setAnswers((before) => ({ ...before, [group.name]: group }))
      }
      void ask(wanted, abort.signal, keep).finally(() => {
        if (!abort.signal.aborted) setAnswered(wanted)
      })
    }, typingMs)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [wanted])
  const pages: FoundGroup = {
    name: 'Pages',
    found: foundPages(wanted, (needs) => may(...needs)),
    failure: undefined,
  }
  const groups = [pages, ...searchKinds.flatMap(({ name }) => answers[name] ?? [])]
  return {
    groups: groups.filter(({ found, failure }) => found.length > 0 || failure !== undefined),
    isSearching: wanted !== answered,
  }
}

async function ask(wanted: string, signal: AbortSignal, keep: (group: FoundGroup) => void) {
  const kinds = searchKinds.filter(({ needs }) => may(...needs))
  await Promise.all(
    kinds.map(async ({ name, find }) => {
      try {
        keep({ name, found: await find(wanted, signal), failure: undefined })
      } catch (error) {
        if (!isAborted(error)) keep({ name, found: [], failure: failureOf(error) })
      }
    }),
  )
}
