import type { Decoder, StreamVersion } from '../src/contracts/reading.ts'
import type { StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { RoundedInteger, textOfPayload, typedValue } from './typed-text.ts'
import { readsTexts } from './values.ts'

/** A decoder of payloads that are nothing but the value of one field: `21.5`, `on`, a text. */
export function plainDecoder({
  schema,
  formatOptions,
}: Pick<StreamVersion, 'schema' | 'formatOptions'>): Decoder {
  const name = formatOptions?.field ?? onlyField(schema)
  const field = name === undefined ? undefined : schema.fields[name]
  if (name === undefined || field === undefined) {
    return () => ({ ok: false, problem: 'source.field does not say which field a value is of' })
  }
  // What is read by wider rules is still a text here.
  const type = readsTexts(field, schema.values) ? 'string' : field.type
  return (payload) => {
    const content = textOfPayload(payload, field.type === 'string')
    if (!content.ok) return content
    if (content.text === '') return { ok: false, problem: 'the payload is empty' }
    try {
      const reading = { [name]: typedValue(content.text, type) }
      return { ok: true, readings: [reading], isBatch: false, format: 'plain' }
    } catch (error) {
      if (!(error instanceof RoundedInteger)) throw error
      return { ok: false, problem: error.message }
    }
  }
}

/** The field of a stream that has one only, beside the one for the time. */
function onlyField({
  fields,
  ...schema
}: Pick<StreamSchema, 'fields' | 'timestampField' | 'time'>): string | undefined {
  const time = timeMemberOf(schema)
  const names = Object.keys(fields).filter((name) => name !== time)
  return names.length === 1 ? names[0] : undefined
}
