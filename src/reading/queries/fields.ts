import type { FieldType } from '../../contracts/stream-schema.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { unknownNameHint } from '../../core/suggestions.ts'
import type {
  AggregatedField,
  AggregateFunction,
} from '../../storage/time-series/aggregate-query.ts'
import { columnTypeOf } from '../../storage/time-series/shape.ts'

/** The fields that can be asked for, with what they are now. */
export type KnownFields = ReadonlyMap<string, FieldType>

/** Functions that callers may write behind a colon. */
const functions = new Map<string, AggregateFunction>([
  ['avg', 'avg'],
  ['min', 'min'],
  ['max', 'max'],
  ['sum', 'sum'],
  ['count', 'count'],
  ['first', 'first'],
  ['last', 'latest'],
  ['latest', 'latest'],
  ['stddev', 'stddev'],
  ['p50', 'p50'],
  ['p95', 'p95'],
  ['p99', 'p99'],
])

/** Functions by what they need of values: nothing, an order, or to be numbers (all the others). */
const ofAnything: readonly AggregateFunction[] = ['count', 'first', 'latest']
const ofInstants: readonly AggregateFunction[] = [...ofAnything, 'min', 'max']

/** All fields under their default functions: numbers are averaged, of the rest the latest counts. */
export function allFields(known: KnownFields): readonly AggregatedField[] {
  return [...known.keys()].map((name) => parseField(name, known, 'fields'))
}

/**
 * Fields as `temperature` or `temperature:max`; one that stands there twice is one.
 *
 * @throws DomainError `invalid_request` for an unknown field or function, `unsupported_query` for a
 *   function that makes no sense for the field
 */
export function parseFields(
  texts: readonly string[],
  known: KnownFields,
): readonly AggregatedField[] {
  const fields = texts.map((text) => parseField(text, known, 'fields'))
  return [...new Map(fields.map((field) => [field.key, field])).values()]
}

function parseField(key: string, known: KnownFields, path: string): AggregatedField {
  const [name = '', suffix, ...rest] = key.split(':')
  const type = known.get(name)
  if (type === undefined) throw unknownField(name, { path, known: known.keys() })
  const chosen = suffix === undefined ? defaultFunction(type) : functions.get(suffix)
  if (chosen === undefined || rest.length > 0) {
    const names = [...functions.keys()].join(', ')
    throw invalidParameter(path, `'${key}': the function must be one of ${names}`)
  }
  if (!makesSense(chosen, type)) {
    const message = `'${key}': ${suffix} makes no sense for the type ${type}`
    throw new DomainError('unsupported_query', message, { details: [{ path, message }] })
  }
  return { key, name, type: columnTypeOf(type), function: chosen }
}

/** @param known the fields that there are, for a name that is misspelt */
export function unknownField(
  name: string,
  {
    path = 'fields',
    known = [],
  }: { readonly path?: string; readonly known?: Iterable<string> } = {},
): DomainError {
  const remedy = unknownNameHint(name, [...known])
  return invalidParameter(path, `there is no field '${name}'`, remedy)
}

function defaultFunction(type: FieldType): AggregateFunction {
  return isNumber(type) ? 'avg' : 'latest'
}

function makesSense(name: AggregateFunction, type: FieldType): boolean {
  if (isNumber(type)) return true
  return (type === 'datetime' ? ofInstants : ofAnything).includes(name)
}

function isNumber(type: FieldType): boolean {
  return type === 'number' || type === 'integer'
}
