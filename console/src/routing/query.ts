import { useLocation } from 'preact-iso/router'
import { withQuery } from './paths.ts'

export interface QueryState {
  readonly query: Readonly<Record<string, string>>
  /** A parameter of the address; empty when it has none of this name. */
  get(name: string): string
  /** The whole view is in the address: what is set here stays when the page is loaded again, or sent to somebody. */
  set(changes: Readonly<Record<string, string | undefined>>, how?: 'push' | 'replace'): void
  /** The address that `set` would lead to, for a link. */
  linkTo(changes: Readonly<Record<string, string | undefined>>): string
}

/** Filters, ranges and choices of a page, kept in its address. */
export function useQuery(): QueryState {
  const { path, query, route } = useLocation()
  const linkTo = (changes: Readonly<Record<string, string | undefined>>) =>
    withQuery(path, { ...query, ...changes })
  return {
    query,
    get: (name) => query[name] ?? '',
    linkTo,
    set: (changes, how = 'replace') => route(linkTo(changes), how === 'replace'),
  }
}
