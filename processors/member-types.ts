import type { FieldDefinition, FieldType, StreamSchema } from '../src/contracts/stream-schema.ts'
import { memberNamed, timeMemberOf } from '../src/contracts/time-member.ts'
import { timeTypeOf } from './times/time-types.ts'
import { readsTexts } from './values.ts'

/** How the texts of one member are read, in formats that have nothing but texts. */
export interface TextMember {
  readonly name: string
  readonly type: FieldType
  /** The digits of a time are kept beside its number. */
  readonly isTime: boolean
  /** What the elements are, where the member is an array. */
  readonly elements: FieldType | undefined
}

/** How members are read: each by the field of its name, else by the first one whose path is its name. */
export function textMembersOf(schema: StreamSchema): (name: string) => TextMember {
  const fields = new Map<string, FieldDefinition>()
  for (const field of Object.values(schema.fields)) {
    for (const path of [field.from ?? []].flat()) {
      const name = memberNamed(path)
      if (name !== undefined && !fields.has(name)) fields.set(name, field)
    }
  }
  for (const [name, field] of Object.entries(schema.fields)) fields.set(name, field)
  const time = schema.timestampFormat === 'rfc3339' ? undefined : timeMemberOf(schema)
  return (name) => {
    const field = fields.get(name)
    const isTime = name === time
    // What is read by wider rules is still a text here.
    const isRead = field !== undefined && !isTime && readsTexts(field, schema.values)
    const type = isRead ? 'string' : field?.type
    const elements = field?.type === 'array' ? (field.items?.type ?? 'string') : undefined
    return { name, type: type ?? (isTime ? timeTypeOf(schema) : 'string'), isTime, elements }
  }
}
