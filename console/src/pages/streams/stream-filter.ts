import type { StreamQuery } from './stream-page.ts'

export const problems = [
  ['any', 'any problem'],
  ['silent', 'silent'],
  ['quarantined', 'in quarantine'],
  ['firing', 'alert fires'],
  ['failing', 'source fails'],
] as const

export const sorts = [
  ['', 'oldest first'],
  ['-created', 'newest first'],
  ['name', 'name, A to Z'],
  ['-name', 'name, Z to A'],
  ['-lastReading', 'newest reading'],
  ['lastReading', 'silent longest'],
  ['-rate', 'busiest'],
  ['rate', 'least busy'],
  ['-quarantined', 'most in quarantine'],
] as const

/** Parameters of the address that say which streams are shown: all but where one is among them. */
const filterNames = ['q', 'vault', 'state', 'problem', 'silentAfter'] as const

const tagPrefix = 'tag.'

/** Tags that an address filters by. */
export function tagsIn(
  query: Readonly<Record<string, string>>,
): readonly (readonly [name: string, value: string])[] {
  return Object.entries(query)
    .filter(([name]) => name.startsWith(tagPrefix))
    .map(([name, value]) => [name.slice(tagPrefix.length), value])
}

export function isFiltered(query: Readonly<Record<string, string>>): boolean {
  return filterNames.some((name) => (query[name] ?? '') !== '') || tagsIn(query).length > 0
}

/** What is asked of the service for an address. */
export function askedOf(query: Readonly<Record<string, string>>, cursor: string): StreamQuery {
  const { q = '', vault = '', state = '', problem = '', silentAfter = '', sort = '' } = query
  const tags = Object.fromEntries(
    tagsIn(query).map(([name, value]) => [`${tagPrefix}${name}`, value]),
  )
  const said = {
    contains: q.trim(),
    vaultId: vault,
    state,
    problem,
    silentAfter,
    sort,
    cursor,
    ...tags,
  }
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== '')) as StreamQuery
}

/** The parameters that take all filters away. */
export function withoutFilters(query: Readonly<Record<string, string>>): Record<string, undefined> {
  const names = [
    ...filterNames,
    ...tagsIn(query).map(([name]) => `${tagPrefix}${name}`),
    'cursor',
    'before',
    'page',
  ]
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
