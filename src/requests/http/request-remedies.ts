import type { FastifyError } from 'fastify'
import { choiceHint, hintedMax, joinedHints, unknownNameHint } from '../../core/suggestions.ts'

/** What ajv found wrong with a part of a request. */
export type Problem = NonNullable<FastifyError['validation']>[number] & {
  /** The value that it found wrong. */
  readonly data?: unknown
  /** The schema that it found wrong, which has the names of the members. */
  readonly parentSchema?: { readonly properties?: Readonly<Record<string, unknown>> }
}

/** What to do about the problems of a request, where one of them says more than to correct a place. */
export function remedyOfProblems(problems: readonly Problem[]): string | undefined {
  return joinedHints(
    problems.slice(0, hintedMax).map((problem) => misspelt(problem) ?? beyondLimit(problem)),
  )
}

function misspelt({
  instancePath,
  keyword,
  params,
  parentSchema,
  data,
}: Problem): string | undefined {
  if (keyword === 'enum') {
    const known = [params['allowedValues']].flat().map(String)
    const path = instancePath.slice(1).replaceAll('/', '.')
    return choiceHint(data, known, path) ?? (/event/.test(path) ? eventRemedy : undefined)
  }
  const name = params['additionalProperty']
  if (typeof name !== 'string') return undefined
  return unknownNameHint(name, Object.keys(parentSchema?.properties ?? {}))
}

const eventRemedy = 'GET /events/catalogue lists the types of events.'

function beyondLimit({ instancePath, keyword, params }: Problem): string | undefined {
  return keyword === 'maximum'
    ? pagingRemedy(instancePath.slice(1), Number(params['limit']))
    : undefined
}

/** What to do about a cursor that is not one of the operation's own. */
export const cursorRemedy =
  'Send in cursor what nextCursor or the Link header of the page before has, unchanged; leave cursor out for the first page.'

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
