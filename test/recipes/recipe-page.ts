import { readFileSync } from 'node:fs'
import type { ExpectedReading, Recipe, SentMessage } from './recipe.ts'

/** What `POST /streams` gets, without the vault and the name; or the `definition` that `POST /fleets` gets. */
export interface RecipeDefinition {
  readonly type: string
  readonly source: Readonly<Record<string, unknown>>
  readonly schema: object
  readonly processing?: object
}

export interface RecipePage {
  readonly definition: RecipeDefinition
  readonly example: SentMessage
  /** What is stored of the example; without a time where that is the time of receipt. */
  readonly readings: readonly ExpectedReading[]
  /** The device that the readings are of, on the page of a fleet. */
  readonly device: string | undefined
}

/**
 * The blocks of a page that are run: what stands behind `message` is the topic, or the query with its `?`, and behind
 * `readings` the device of a fleet.
 */
export function recipePage({ name, messages }: Recipe): RecipePage {
  const page = readFileSync(`docs/recipes/${name}.md`, 'utf8')
  const fences = /^```(?:json|text) (definition|message|readings)(?: (\S+))?\n(.*?)\n```$/gms
  const blocks = new Map<string, { readonly label: string | undefined; readonly text: string }>()
  for (const [, kind = '', label, text = ''] of page.matchAll(fences)) {
    if (blocks.has(kind)) throw new Error(`docs/recipes/${name}.md has two blocks: ${kind}`)
    blocks.set(kind, { label, text })
  }
  const block = (kind: string) => {
    const found = blocks.get(kind)
    if (found === undefined) throw new Error(`docs/recipes/${name}.md has no block: ${kind}`)
    return found
  }
  const { label, text } = block('message')
  const isQuery = label?.startsWith('?') === true
  const headers = messages(1)[0]?.headers
  return {
    definition: JSON.parse(block('definition').text) as RecipeDefinition,
    example: {
      payload: text,
      ...(headers && { headers }),
      ...(label !== undefined && (isQuery ? { query: label } : { topic: label })),
    },
    readings: JSON.parse(block('readings').text) as readonly ExpectedReading[],
    device: block('readings').label,
  }
}
