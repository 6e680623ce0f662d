import { decoderOf } from '../../../processors/decode.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { formatOf, schemaOf } from './definition.ts'
import type { SampledMessage } from './stream-samples.ts'
import { currentRules } from './time-rules.ts'

/** What a record may have (RFC 8428, section 4); lists of anything else have no base values. */
const labels: ReadonlySet<string> = new Set('bn bt bu bv bs bver n u v vs vb vd s t ut'.split(' '))

/** Whether messages are packs of SenML: no other list has a base name or a base time. */
export function areSenml(messages: readonly SampledMessage[]): boolean {
  return (
    messages.length > 0 &&
    messages.every(({ isBatch, readings }) => {
      const [first] = readings
      const hasBase = isObject(first) && ('bn' in first || 'bt' in first)
      return isBatch && hasBase && readings.every(isRecord)
    })
  )
}

function isRecord(one: unknown): boolean {
  return isObject(one) && Object.keys(one).every((key) => labels.has(key))
}

/** What the records of each time are together, under the names that their fields may have. */
export function senmlMessages(messages: readonly SampledMessage[]): readonly SampledMessage[] {
  const source = { format: 'senml-json' }
  const version = { source, schema: {}, processing: {}, rules: currentRules }
  const decode = decoderOf(formatOf(version), { schema: schemaOf(version) })
  return messages.flatMap((message) => {
    const decoded = message.payload === undefined ? undefined : decode(message.payload)
    return decoded?.ok === true ? [{ ...message, readings: decoded.readings }] : []
  })
}
