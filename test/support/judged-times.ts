import { decodeJson } from '../../processors/decode-json.ts'
import { judgeOf } from '../../processors/index.ts'
import type { StreamSchema, TimeRules, TimestampFormat } from '../../src/contracts/stream-schema.ts'
import { formatUs } from '../../src/core/time.ts'

export const receivedAtUs = Date.UTC(2026, 2, 1, 12) * 1_000
export const futureToleranceUs = 300_000_000

export interface Ruled extends Partial<TimeRules> {
  readonly format?: TimestampFormat
  readonly field?: string
}

export function schemaOf({ format = 'rfc3339', field = 'at', ...rules }: Ruled): StreamSchema {
  return {
    fields: { value: { type: 'number' } },
    validation: 'strict',
    timestampField: field,
    timestampFormat: format,
    time: { isRequired: true, ...rules },
  }
}

/** The time that a message has, or why it is refused. */
export function judged(rules: Ruled, text: string): string {
  const schema = schemaOf({ ...rules })
  const decoded = decodeJson(Buffer.from(text))
  if (!decoded.ok) return decoded.problem
  const lenient = { ...schema, validation: 'lenient' } as const
  const verdict = judgeOf(lenient)(decoded.readings[0], { receivedAtUs, futureToleranceUs })
  if (verdict.accepted) return formatUs(verdict.timestampUs)
  return `${verdict.reason}: ${verdict.message}`
}
