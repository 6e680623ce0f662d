import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { Problems } from '../../contracts/definitions/problems.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { type ParsedDefinition, parseDefinition, parseName, versionedJson } from './definition.ts'
import { parseTags } from './tags.ts'

/** Streams that one request makes: all of them in one transaction. */
const bulkMax = 1_000

/** Characters of all definitions that one request stores: each stream has one of its own. */
const storedLengthMax = 16 * 1024 * 1024

/** Problems that are named of one request. */
const detailsMax = 100

/** A definition, and where it stands in the request. */
interface PlacedDefinition {
  readonly definition: ParsedDefinition
  readonly place: string
}

type Json = Readonly<Record<string, unknown>>

/**
 * The streams of `{definitions: [...]}`, or of `{definition, streams: [{name, tags}]}`: one definition
 * for many, whose tags are those of the definition and their own.
 *
 * @throws DomainError as `parseDefinition` does, naming the places of all of them
 */
export async function parseBulk(body: unknown): Promise<readonly PlacedDefinition[]> {
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
  return isShared ? await shared(value['definition'], items) : await each(items, 'definitions')
}

/** The definition is looked at once: to check it may take long, and only names and tags differ. */
async function shared(
  definition: unknown,
  items: readonly unknown[],
): Promise<readonly PlacedDefinition[]> {
  // With a name that is good in any case, so that what is wrong is said of it once.
  const common = isObject(definition) ? { ...definition, name: 'one of many' } : definition
  const [placed] = await each([common], 'definition', () => 'definition')
  const checked = placed?.definition
  if (!checked) throw new Error('a definition that was found good is missing')
  const found: ErrorDetail[] = []
  const definitions = items.map((item, index) => {
    const at = `streams.${index}`
    if (!isObject(item)) {
      found.push({ path: at, message: 'must be an object with a name' })
      return checked
    }
    new Problems(at, found).refuseUnknown(item, ['name', 'tags'])
    const { tags }: Json = item
    const own: ErrorDetail[] = []
    const name = parseName(item['name'], own)
    const all = isObject(tags) ? { ...checked.tags, ...tags } : (tags ?? checked.tags)
    const made = { ...checked, name, tags: parseTags(all, own) }
    found.push(...own.map((one) => ({ ...one, path: `${at}.${one.path}` })))
    return made
  })
  const { length } = versionedJson({ ...checked, conversions: {} })
  if (found.length === 0 && length * items.length > storedLengthMax) {
    const most = Math.floor(storedLengthMax / length)
    found.push({ path: 'streams', message: `at most ${most} of so long a definition at once` })
  }
  if (found.length > 0) throw invalid(found)
  return definitions.map((one) => ({ definition: one, place: 'definition' }))
}

async function each(
  bodies: readonly unknown[],
  list: string,
  placeOf = (index: number) => `${list}.${index}`,
): Promise<readonly PlacedDefinition[]> {
  const errors: DomainError[] = []
  const found: ErrorDetail[] = []
  const definitions: PlacedDefinition[] = []
  for (const [index, body] of bodies.entries()) {
    if (found.length >= detailsMax) break
    // To compile the expressions of one may take some milliseconds: others have a turn in between.
    if (index > 0) await nextTurn()
    try {
      definitions.push({ definition: parseDefinition(body), place: placeOf(index) })
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      errors.push(error)
      for (const { path, ...detail } of error.details ?? []) {
        const place = placeOf(index)
        found.push({ path: path === '' ? place : `${place}.${path}`, ...detail })
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
