import { existsSync, readFileSync } from 'node:fs'
import { operationPaths } from '../../clients/typescript/operations.ts'
import { commands } from '../../src/cli/commands.ts'

const clientText = readFileSync('clients/typescript/operations.ts', 'utf8')
const settingsPage = readFileSync('docs/operations.md', 'utf8')
const sourceKeys = ['src/contracts/stream-schema.ts', 'src/streams/fleets/fleet.ts']
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')
const operations = new Set<string>(Object.values(operationPaths))

/** Headers of HTTP that have no hyphen, or that no page of ours describes. */
const plainHeaders = 'Authorization|Accept|Allow|ETag|Range|Host|Cookie'
const httpHeaders = new Set([
  ...plainHeaders.split('|'),
  'Content-Type',
  'Content-Encoding',
  'Content-Range',
  'If-Match',
  'Retry-After',
  'Last-Event-ID',
  'Idempotency-Key',
  'x-api-key',
  'x-api-secret',
  'x-required-scope',
])

/** One-word members and parameters that remedies name. */
const plainKeys =
  'details|limit|cursor|start|end|fields|aggregation|username|headers|items|format|schema|scopes|url'

interface Kind {
  readonly pattern: RegExp
  readonly exists: (name: string) => boolean
}

/** What a remedy can name, each with how to find out whether there is such a thing. */
const kinds: readonly Kind[] = [
  {
    pattern: /STREAMVAULT_[A-Z_]*[A-Z]/g,
    exists: (name) => settingsPage.split(/\W+/).includes(name),
  },
  {
    pattern: /(?:GET|POST|PUT|DELETE) \/[\w{}/.-]*\w\}?/g,
    exists: (name) => operations.has(name),
  },
  { pattern: /docs\/[\w/-]+\.md/g, exists: (name) => existsSync(name) },
  {
    pattern: /npx streamvault [a-z]+/g,
    exists: (name) =>
      commands.some((command) => `npx streamvault ${command.name}`.startsWith(name)),
  },
  {
    pattern: new RegExp(
      `\\b(?:[A-Z][a-z]*(?:-[A-Z][A-Za-z]*)+|(?<!/)x(?:-[a-z]+)+|${plainHeaders})\\b`,
      'g',
    ),
    exists: (name) => httpHeaders.has(name),
  },
  {
    // A unit is no member of anything.
    pattern: /\b(?!deg[CF]\b)[a-z]+[A-Z]\w*\b(?!\})/g,
    exists: (name) =>
      clientText.includes(`${name}?:`) ||
      clientText.includes(`${name}:`) ||
      sourceKeys.includes(name),
  },
  {
    pattern: new RegExp(`\\b(?:${plainKeys})\\b`, 'g'),
    exists: (name) => clientText.includes(name),
  },
]

/** Names in a remedy that nothing has. */
export function unknownNames(remedy: string): readonly string[] {
  return kinds.flatMap(({ pattern, exists }) =>
    (remedy.match(pattern) ?? []).filter((name) => !exists(name)),
  )
}

/** Whether a remedy says what to do, and not with what. */
export function nothingNamed(remedy: string): boolean {
  return kinds.every(({ pattern }) => remedy.match(pattern) === null)
}
