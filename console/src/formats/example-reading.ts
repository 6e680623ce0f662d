import type { Operations } from '../../../clients/typescript/call.ts'

type Schema = Operations['readStream']['answer']['schema']

/** Fields of an example: enough to see how it is done. */
const fieldsMax = 6

/** A message that the schema takes, for those who try the first time. */
export function exampleReading(schema: Schema, nowIso: string): Record<string, unknown> {
  const required = Object.entries(schema).filter(([, field]) => field.required === true)
  const others = Object.entries(schema).filter(([, field]) => field.required !== true)
  const room = Math.max(0, fieldsMax - required.length)
  return Object.fromEntries(
    [...required, ...others.slice(0, room)].map(([name, field]) => [
      name,
      exampleOf(field, nowIso),
    ]),
  )
}

function exampleOf({ type, enum: allowed, min, max }: Schema[string], nowIso: string): unknown {
  if (allowed !== undefined && allowed.length > 0) return allowed[0]
  if (type === 'boolean') return true
  if (type === 'string') return 'text'
  if (type === 'datetime') return nowIso
  if (type === 'array') return []
  if (type === 'object') return {}
  const value = numberWithin(min, max)
  return type === 'integer' ? Math.round(value) : value
}

function numberWithin(min: number | undefined, max: number | undefined): number {
  if (min !== undefined && max !== undefined) return (min + max) / 2
  return min ?? max ?? 21
}
