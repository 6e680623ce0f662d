import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import { checkedByHandler, type JsonSchema } from './schema.ts'

/** Checks a value, and leaves its complaints where Fastify looks for them. */
interface Check {
  (value: unknown): boolean
  errors?: FastifySchemaValidationError[] | null
}

/**
 * Makes the schemas of routes binding for requests: bodies as they are, query strings by what their
 * texts mean, which is what handlers get. Ids in paths are looked up, not checked: a
 * malformed one is an unknown one (decisions.md#what-is-unknown).
 */
export function requestChecks(): FastifySchemaCompiler<JsonSchema> {
  const { bodyCheck, queryCheck } = partChecks()
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return bodyCheck(schema)
    return httpPart === 'querystring' ? queryCheck(schema) : () => true
  }
}

/** Makes checks of bodies and of queries, for those that have several schemas as well. */
export function partChecks() {
  const first = newAjv({ allErrors: false })
  const all = newAjv({ allErrors: true })
  const checkOf = (schema: JsonSchema): Check =>
    binds(schema) ? boundedCheck(whenNeeded(first, schema), whenNeeded(all, schema)) : () => true
  return {
    bodyCheck: checkOf,
    queryCheck: (schema: JsonSchema) =>
      binds(schema) ? checkedQuery(schema, checkOf(schema)) : (value: Query) => ({ value }),
  }
}

/** What answers are checked by. */
export function answerCheck(): (schema: JsonSchema) => ValidateFunction {
  const ajv = newAjv({ allErrors: true })
  return (schema) => compile(ajv, schema)
}

/** Compiled for its first value: for hundreds of schemas at a start it would take as long as all of the rest. */
function whenNeeded(ajv: Ajv2020, schema: JsonSchema): () => ValidateFunction {
  let compiled: ValidateFunction | undefined
  return () => {
    compiled ??= compile(ajv, schema)
    return compiled
  }
}

/** Values beyond which only the first problem of a request is named. */
const thoroughlyCheckedMax = 10_000

/**
 * Names all problems of a request, unless it has so many values that finding them would hold up
 * everybody: a body of 2 MiB can be wrong in a million places.
 */
function boundedCheck(first: () => ValidateFunction, all: () => ValidateFunction): Check {
  const check: Check = (value) => {
    const quick = first()
    const isValid = quick(value)
    check.errors = quick.errors ?? null
    if (isValid || hasMoreValues(value, thoroughlyCheckedMax)) return isValid
    const thorough = all()
    thorough(value)
    check.errors = thorough.errors ?? null
    return false
  }
  return check
}

function hasMoreValues(value: unknown, max: number): boolean {
  const found = [value]
  for (const one of found) {
    if (typeof one !== 'object' || one === null) continue
    const members = Object.values(one) as readonly unknown[]
    if (found.length + members.length > max) return true
    found.push(...members)
  }
  return false
}

function newAjv({ allErrors }: { readonly allErrors: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, verbose: true, useDefaults: false, allowUnionTypes: true })
  ajv.addVocabulary(['example', checkedByHandler])
  addFormats.default(ajv)
  return ajv
}

function compile(ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
  return ajv.compile(withoutIds(schema) as JsonSchema)
}

function binds(schema: JsonSchema): boolean {
  return schema[checkedByHandler] !== true
}

/** The names of components are for the document; everybody else would take them for addresses. */
export function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).filter(([key]) => key !== '$id')
  return Object.fromEntries(members.map(([key, value]) => [key, withoutIds(value)]))
}

type Query = Readonly<Record<string, unknown>>

/** Takes a query apart once: what was checked is what the handler gets. */
function checkedQuery(schema: JsonSchema, validate: Check) {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  return (query: Query): { readonly value: Query } | { error: FastifySchemaValidationError[] } => {
    const texts = Object.entries(query)
    const repeated = texts.filter(([, text]) => Array.isArray(text))
    if (repeated.length > 0) return { error: repeated.map(([name]) => repetition(name)) }
    const value = Object.fromEntries(
      texts.map(([name, text]) => [name, meaning(text, properties[name])]),
    )
    return validate(value) ? { value } : { error: validate.errors ?? [] }
  }
}

function repetition(name: string): FastifySchemaValidationError {
  const message = 'came more than once'
  return { keyword: 'repetition', instancePath: `/${name}`, schemaPath: '', params: {}, message }
}

/** The value that a text of a query string stands for; the text itself when it stands for none. */
function meaning(text: unknown, schema: JsonSchema | undefined): unknown {
  if (typeof text !== 'string') return text
  switch (schema?.['type']) {
    case 'integer':
      return /^\d{1,16}$/.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text
    default:
      return text
  }
}
