import type { JsonSchema } from '../schema.ts'

const byFormat: Readonly<Record<string, string>> = {
  uuid: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
  'date-time': '2026-01-31T10:00:00.000000Z',
  uri: 'https://vault.example.com/here',
  email: 'ada@vault.example',
}

/** A value that fits a schema: the example that it gives, or else the plainest one. */
export function exampleOf(schema: JsonSchema): unknown {
  const { examples, const: only, enum: values, default: usual, type } = schema
  const { oneOf, anyOf, allOf } = schema
  if (Array.isArray(examples)) return examples[0]
  if (only !== undefined) return only
  if (usual !== undefined) return usual
  if (Array.isArray(values)) return values[0]
  const choices = (oneOf ?? anyOf ?? allOf) as readonly JsonSchema[] | undefined
  if (choices?.[0] !== undefined) return exampleOf(choices[0])
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'object':
      return objectExample(schema)
    case 'array':
      return [exampleOf((schema['items'] ?? {}) as JsonSchema)]
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 0
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return byFormat[String(schema['format'])] ?? 'text'
  }
}

function objectExample({ properties = {} }: JsonSchema): object {
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>)
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]))
}
