import { invalidParameter } from '../../core/errors.ts'
import { parseId, type VaultId } from '../../core/ids.ts'
import type { StreamFilter } from './stream-list.ts'
import { tagProblem, tagsMax } from './tags.ts'

/** A query that was held to its schema: what it holds beside the names here are tags. */
interface Query {
  readonly vaultId?: string
  readonly name?: string
}

const tagPrefix = 'tag.'

/**
 * What the query of a list asks for: `vaultId`, `name` (whole, or its beginning and `*`), and one
 * `tag.NAME` for each tag.
 *
 * @throws DomainError `invalid_request`
 */
export function streamFilter(query: Query): StreamFilter {
  const tagged = Object.entries(query).filter(([name]) => name.startsWith(tagPrefix))
  if (tagged.length > tagsMax) throw invalidParameter('tag', `came more than ${tagsMax} times`)
  const { vaultId, name } = query
  return {
    ...(vaultId !== undefined && { vaultId: vaultIdOf(vaultId) }),
    ...(name !== undefined && { name: nameOf(name) }),
    tags: Object.fromEntries(tagged.map(([parameter, value]) => tagOf(parameter, value))),
  }
}

function vaultIdOf(text: string): VaultId {
  const id = parseId<VaultId>(text)
  if (id === undefined) throw invalidParameter('vaultId', 'must be a uuid')
  return id
}

function nameOf(text: string): { readonly text: string; readonly isPrefix: boolean } {
  const isPrefix = text.endsWith('*')
  const wanted = isPrefix ? text.slice(0, -1) : text
  return { text: wanted.toLowerCase(), isPrefix }
}

function tagOf(parameter: string, value: unknown): readonly [string, string] {
  const name = parameter.slice(tagPrefix.length)
  const problem = tagProblem(name, value)
  if (problem !== undefined) throw invalidParameter(parameter, problem)
  return [name, String(value)]
}
