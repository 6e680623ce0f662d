import type { FastifyError } from 'fastify'
import { changesBetween } from '../../core/changes-between.ts'

/** What ajv found wrong with a part of a request. */
export type Problem = NonNullable<FastifyError['validation']>[number] & {
  /** The schema that it found wrong, which has the names of the members. */
  readonly parentSchema?: { readonly properties?: Readonly<Record<string, unknown>> }
}

/** What a misspelt name may be made of to be repeated: it is shown to people, and looking up a long one would take a while. */
const repeatable = /^[\w.-]{1,50}$/

/** What to do about the problems of a request, where one of them says more than to correct a place. */
export function remedyOfProblems(problems: readonly Problem[]): string | undefined {
  for (const problem of problems) {
    const remedy = misspelt(problem) ?? beyondLimit(problem)
    if (remedy !== undefined) return remedy
  }
  return undefined
}

function misspelt({ params, parentSchema }: Problem): string | undefined {
  const name = params['additionalProperty']
  if (typeof name !== 'string' || !repeatable.test(name)) return undefined
  const [nearest] = Object.keys(parentSchema?.properties ?? {})
    .map((known) => ({ known, changes: changesBetween(name.toLowerCase(), known.toLowerCase()) }))
    .filter(({ known, changes }) => changes <= Math.max(1, known.length / 3))
    .toSorted((first, second) => first.changes - second.changes)
  return nearest && `Write ${nearest.known} for ${name}.`
}

function beyondLimit({ instancePath, keyword, params }: Problem): string | undefined {
  return keyword === 'maximum'
    ? pagingRemedy(instancePath.slice(1), Number(params['limit']))
    : undefined
}

/** How to get more than a page can have; undefined for a parameter that is not about the length of one. */
export function pagingRemedy(name: string, max: number): string | undefined {
  switch (name) {
    case 'limit':
      return `Set limit to ${max} or less, and ask for the next page with cursor: nextCursor of the answer has it, or its Link header.`
    case 'page_size':
      return `Set page_size to ${max} or less, and ask for the next page with page.`
    default:
      return undefined
  }
}
