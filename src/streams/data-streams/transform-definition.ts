import { checkStep, StepProblem } from '../../../processors/transform.ts'
import { fieldNameProblem, fieldsMax, isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  fieldOf,
  finite,
  type Json,
  oneOf,
  Problems,
  type Rule,
  text,
} from '../../contracts/definitions/problems.ts'
import type { FieldMap } from '../../contracts/stream-schema.ts'
import { type DefinedStep, derivedTypes, fieldsAfter } from '../../contracts/transform-step.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { spellingHint } from '../../core/suggestions.ts'

/** Steps of one stream. */
const stepsMax = 32

const unitLengthMax = 64

/** The steps of a definition that was checked, without what its units mean. */
export function transformOf(processing: Json): readonly DefinedStep[] {
  return (processing['transform'] as readonly DefinedStep[] | undefined) ?? []
}

/** The fields as they are stored: what is queried, and what decides about tables. */
export function storedFieldsOf(definition: {
  readonly schema: FieldMap
  readonly processing: Json
}): FieldMap {
  return fieldsAfter(definition.schema, transformOf(definition.processing))
}

/**
 * Reads `processing.transform`; what is wrong with it is added to the problems. Behind the first step
 * that is wrong nothing is looked at, because it would stand on it.
 */
export function parseTransform(
  value: unknown,
  { schema, path }: { readonly schema: FieldMap; readonly path: string },
  found: ErrorDetail[],
): readonly DefinedStep[] {
  if (!Array.isArray(value) || value.length > stepsMax) {
    found.push({ path, message: `must be a list of at most ${stepsMax} steps` })
    return []
  }
  const before = found.length
  let fields = schema
  const steps: DefinedStep[] = []
  const problems = new Problems(path, found)
  for (const [index, given] of (value as readonly unknown[]).entries()) {
    const step = parseStep(given, fields, { problems, index: String(index) })
    if (step === undefined || found.length > before) return []
    steps.push(step)
    fields = fieldsAfter(fields, [step])
  }
  const count = Object.keys(fields).length
  if (count === 0) found.push({ path, message: 'leaves no field' })
  if (count > fieldsMax) found.push({ path, message: `makes more than ${fieldsMax} fields` })
  return steps
}

type Parse = (given: Json, fields: FieldMap, problems: Problems) => DefinedStep | undefined

const kinds: Readonly<Record<string, Parse>> = {
  rename: parseRename,
  convert: parseConvert,
  scale: parseScale,
  derive: parseDerive,
  filter: parseFilter,
  drop: parseDrop,
}

function parseStep(
  given: unknown,
  fields: FieldMap,
  { problems, index }: { readonly problems: Problems; readonly index: string },
): DefinedStep | undefined {
  const [kind = '', ...others] = isObject(given) ? Object.keys(given) : []
  const parse = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  const options = isObject(given) ? given[kind] : undefined
  if (parse === undefined || others.length > 0 || !isObject(options)) {
    const names = Object.keys(kinds)
    const message = `must be an object with one of ${names.join(', ')}, whose value is an object`
    problems.add(index, message, () => spellingHint(parse === undefined ? kind : '', names))
    return undefined
  }
  const step = parse(options, fields, problems.within(index).within(kind))
  if (step === undefined) return undefined
  try {
    checkStep(step, fields)
  } catch (error) {
    if (!(error instanceof StepProblem)) throw error
    problems.within(index).add(error.path, error.message)
    return undefined
  }
  return step
}

function parseRename(given: Json, fields: FieldMap, problems: Problems): DefinedStep | undefined {
  const rules = { from: fieldOf(fields), to: text }
  check(given, { rules, required: ['from', 'to'] }, problems)
  const from = String(given['from'])
  const to = String(given['to'])
  checkNewName(to, withoutField(fields, from), (message) => problems.add('to', message))
  return { rename: { from, to } }
}

function parseConvert(given: Json, fields: FieldMap, problems: Problems): DefinedStep | undefined {
  const rules = { field: numberFieldOf(fields), from: unitName, to: unitName }
  check(given, { rules, required: ['field', 'to'] }, problems)
  const field = String(given['field'])
  const { from = Object.hasOwn(fields, field) ? fields[field]?.unit : undefined, to } = given
  if (from === undefined) problems.add('from', 'is required, as the field has no unit')
  if (typeof from !== 'string' || typeof to !== 'string') return undefined
  return { convert: { field, from, to } }
}

function parseScale(given: Json, fields: FieldMap, problems: Problems): DefinedStep | undefined {
  const rules = { field: numberFieldOf(fields), factor: finite, offset: finite }
  check(given, { rules, required: ['field'] }, problems)
  const { field, factor, offset } = given
  if (factor === undefined && offset === undefined) problems.add('factor', 'or offset is required')
  return {
    scale: { field: String(field), factor: Number(factor ?? 1), offset: Number(offset ?? 0) },
  }
}

function parseDerive(given: Json, fields: FieldMap, problems: Problems): DefinedStep | undefined {
  const rules = { field: text, type: oneOf(...derivedTypes), unit: unitName, expression: text }
  check(given, { rules, required: ['field', 'expression'] }, problems)
  const { type: typeName = 'number', unit, expression } = given
  const field = String(given['field'])
  checkNewName(field, withoutField(fields, field), (message) => problems.add('field', message))
  const type = derivedTypes.find((known) => known === typeName)
  if (type === undefined || typeof expression !== 'string') return undefined
  return {
    derive: { field, type, ...(typeof unit === 'string' && { unit }), expression },
  }
}

function parseFilter(given: Json, _: FieldMap, problems: Problems): DefinedStep | undefined {
  check(given, { rules: { expression: text }, required: ['expression'] }, problems)
  const { expression } = given
  return typeof expression === 'string' ? { filter: { expression } } : undefined
}

function parseDrop(given: Json, fields: FieldMap, problems: Problems): DefinedStep | undefined {
  check(given, { rules: { field: fieldOf(fields) }, required: ['field'] }, problems)
  return { drop: { field: String(given['field']) } }
}

function numberFieldOf(fields: FieldMap): Rule {
  const isField = fieldOf(fields)
  return (value, key, problems) => {
    const type = Object.hasOwn(fields, String(value)) ? fields[String(value)]?.type : undefined
    if (type === undefined) isField(value, key, problems)
    else if (type !== 'number' && type !== 'integer')
      problems.add(key, `must be a number, not ${type}`)
  }
}

const unitName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && value !== '' && value.length <= unitLengthMax) return
  problems.add(key, `must be a text of 1 to ${unitLengthMax} characters`)
}

function checkNewName(name: string, others: FieldMap, report: (message: string) => void): void {
  const taken = new Set(Object.keys(others).map((other) => other.toLowerCase()))
  const problem = fieldNameProblem(name, taken)
  if (problem !== undefined) report(problem)
}

function withoutField(fields: FieldMap, name: string): FieldMap {
  const { [name]: _, ...others } = fields
  return others
}
