import { DomainError, type ErrorDetail } from '../core/errors.ts'
import { parseDefinition, type StreamDefinition } from './definition.ts'
import { Problems } from './definition-problems.ts'
import { isObject } from './field-map.ts'

/** Streams that one request makes: all of them in one transaction. */
const bulkMax = 1_000

/** Problems that are named of one request. */
const detailsMax = 100

type Json = Readonly<Record<string, unknown>>

/**
 * The streams of `{definitions: [...]}`, or of `{definition, streams: [{name, tags}]}`: one definition
 * for many, whose tags are those of the definition and their own.
 *
 * @throws DomainError as `parseDefinition` does, naming the places of all of them
 */
export function parseBulk(body: unknown): readonly StreamDefinition[] {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  const value = isObject(body) ? body : {}
  const isShared = value['definition'] !== undefined
  problems.refuseUnknown(value, isShared ? ['definition', 'streams'] : ['definitions'])
  const key = isShared ? 'streams' : 'definitions'
  const items = value[key]
  if (!Array.isArray(items) || items.length === 0 || items.length > bulkMax) {
    problems.add(key, `must be a list of 1 to ${bulkMax} ${key}`)
    throw invalid(found)
  }
  if (found.length > 0) throw invalid(found)
  return isShared ? shared(value['definition'], items) : each(items, 'definitions')
}

function shared(definition: unknown, items: readonly unknown[]): readonly StreamDefinition[] {
  // With a name that is good in any case, so that what is wrong is said of it once.
  const common = isObject(definition) ? { ...definition, name: 'one of many' } : definition
  const [checked] = each([common], 'definition', () => 'definition')
  const found: ErrorDetail[] = []
  const bodies = items.map((item, index) => {
    const problems = new Problems(`streams.${index}`, found)
    if (isObject(item)) problems.refuseUnknown(item, ['name', 'tags'])
    else found.push({ path: `streams.${index}`, message: 'must be an object with a name' })
    const { name, tags }: Json = isObject(item) ? item : {}
    return {
      ...(definition as Json),
      name,
      tags: isObject(tags) ? { ...checked?.tags, ...tags } : (tags ?? checked?.tags),
    }
  })
  if (found.length > 0) throw invalid(found)
  return each(bodies, 'streams')
}

function each(
  bodies: readonly unknown[],
  list: string,
  placeOf = (index: number) => `${list}.${index}`,
): readonly StreamDefinition[] {
  const errors: DomainError[] = []
  const found: ErrorDetail[] = []
  const definitions: StreamDefinition[] = []
  for (const [index, body] of bodies.entries()) {
    if (found.length >= detailsMax) break
    try {
      definitions.push(parseDefinition(body))
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      errors.push(error)
      for (const { path, message } of error.details ?? []) {
        const place = placeOf(index)
        found.push({ path: path === '' ? place : `${place}.${path}`, message })
      }
    }
  }
  // What is wrong comes before what is only not possible yet.
  const first = errors.find(({ code }) => code === 'invalid_request') ?? errors[0]
  if (first)
    throw new DomainError(first.code, first.message, { details: found.slice(0, detailsMax) })
  return definitions
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the list of streams is not valid', {
    details: details.slice(0, detailsMax),
  })
}
