import { docComment } from './doc-comment.ts'

export type Json = Readonly<Record<string, unknown>>

/** The type, in TypeScript, of the values that fit a schema. Bounds and patterns are left to the service. */
export function typeOf(schema: Json): string {
  const { $ref, allOf, oneOf, anyOf } = schema
  const parts = [
    ...(typeof $ref === 'string' ? [componentType($ref)] : []),
    ...asList(allOf).map(typeOf),
    ownType(schema),
    unionOf(asList(oneOf).map(typeOf)),
    unionOf(asList(anyOf).map(typeOf)),
  ].filter((part) => part !== anything)
  if (parts.length < 2) return parts[0] ?? anything
  return parts.map((part) => `(${part})`).join(' & ')
}

/** A reading says nothing of its type: whoever reads it has to look. */
const anything = 'unknown'

/** Our names for components whose own are names of the language. */
const renamed: Readonly<Record<string, string>> = { Error: 'ErrorBody' }

/** What a component is called in the file. */
export function componentName(name: string): string {
  return renamed[name] ?? name
}

function componentType(reference: string): string {
  return componentName(reference.replace('#/components/schemas/', ''))
}

function ownType(schema: Json): string {
  const { const: only, enum: values, type } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return unionOf(values.map((value) => JSON.stringify(value)))
  const names = [(type as string | readonly string[] | undefined) ?? impliedType(schema)].flat()
  return unionOf(names.map((name) => namedType(name, schema)))
}

function impliedType({ properties, items }: Json): string {
  if (properties !== undefined) return 'object'
  return items === undefined ? anything : 'array'
}

function namedType(name: string, schema: Json): string {
  switch (name) {
    case 'string':
    case 'boolean':
    case 'null':
      return name
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly (${typeOf((schema['items'] ?? {}) as Json)})[]`
    case 'object':
      return objectType(schema)
    default:
      return anything
  }
}

function objectType({ properties, required = [], additionalProperties: rest }: Json): string {
  if (properties === undefined) {
    const member = typeof rest === 'object' && rest !== null ? typeOf(rest as Json) : anything
    return `Readonly<Record<string, ${rest === false ? 'never' : member}>>`
  }
  const members = Object.entries(properties as Readonly<Record<string, Json>>).map(
    ([name, member]) => memberOf(name, member, (required as readonly string[]).includes(name)),
  )
  // Beside declared members others can be of any type only: TypeScript has no words for the rest alone.
  const others = rest === undefined || rest === false ? [] : ['readonly [name: string]: unknown']
  return `{ ${[...members, ...others].join('\n')} }`
}

/** A member of an object; one that can be left out may also be given as undefined. */
export function memberOf(name: string, schema: Json, isRequired: boolean): string {
  const { description } = schema
  const comment = typeof description === 'string' ? docComment(description) : ''
  const type = typeOf(schema)
  const isGiven = isRequired || type === anything
  const written = isGiven ? type : `${type} | undefined`
  return `${comment}readonly ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${written}`
}

/** One of the types; that of anything takes the others in. */
export function unionOf(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  if (distinct.length === 0 || distinct.includes(anything)) return anything
  return distinct.length === 1 ? (distinct[0] ?? anything) : distinct.join(' | ')
}

function asList(schemas: unknown): readonly Json[] {
  return Array.isArray(schemas) ? (schemas as readonly Json[]) : []
}
