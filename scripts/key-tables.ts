import type { Fields, PlacedField } from '../src/contracts/definitions/fields.ts'
import type { Json } from '../src/contracts/definitions/problems.ts'

/** Keys of a table by the name in its mark: `AmqpSource`, or `ModbusSource.registers` for those within a key. */
export type KeyTables = Readonly<Record<string, Fields>>

const marked = /^<!-- keys: ([\w.]+) -->\n.*?^<!-- end -->$/gms

/**
 * A page whose tables of keys are written anew, each between its mark and `<!-- end -->`.
 *
 * @throws Error when a mark names no fields
 */
export function withKeyTables(page: string, tables: KeyTables): string {
  return page.replace(marked, (_, name: string) => {
    const fields = tables[name]
    if (fields === undefined) throw new Error(`there are no fields of ${name}`)
    return `<!-- keys: ${name} -->\n${tableOf(fields)}\n<!-- end -->`
  })
}

/** Names of the tables that a page has. */
export function keyTablesIn(page: string): readonly string[] {
  return [...page.matchAll(marked)].map(([, name = '']) => name)
}

function tableOf(fields: Fields): string {
  const rows = Object.entries(fields).map(
    ([key, field]) =>
      `| \`${key}\` | ${typeOf(field)} | ${usualOf(field)} | ${field.unit === undefined ? '' : `${field.unit} `}${field.doc} |`,
  )
  return ['| key | is | without it | |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function usualOf({ isRequired, default: usual }: PlacedField): string {
  if (isRequired === true) return 'required'
  return usual === undefined ? '' : `\`${textOf(usual)}\``
}

function typeOf(field: PlacedField): string {
  const members = Object.values(field.members ?? {})
  const hasSecrets = field.isSecret === true || members.some(({ isSecret }) => isSecret)
  return `${typesOf(field.schema).join(' or ')}${hasSecrets ? ', secret' : ''}`
}

/** A schema in a few words, for each of its forms. */
function typesOf(schema: Json): readonly string[] {
  const { anyOf, enum: values, type, minimum, maximum, pattern = '' } = schema
  if (Array.isArray(anyOf)) return [...new Set((anyOf as Json[]).flatMap(typesOf))]
  if ('const' in schema) return [`\`${textOf(schema['const'])}\``]
  if (Array.isArray(values)) return [values.map((value) => `\`${textOf(value)}\``).join(', ')]
  if (type === 'integer') return [rangeOf(minimum, maximum)]
  if (type === 'string') return [String(pattern).endsWith('(s|m|h|d)$') ? 'duration' : 'text']
  return [type ?? 'anything'].flat().map((one) => words[textOf(one)] ?? textOf(one))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const words: Readonly<Record<string, string>> = { array: 'list', string: 'text' }

function rangeOf(minimum: unknown, maximum: unknown): string {
  const [from, to] = [minimum, maximum].map((bound) => Number(bound).toLocaleString('en'))
  return minimum === undefined ? 'integer' : `integer, ${from} to ${to}`
}
