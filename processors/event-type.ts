import type { CompiledStream } from '../src/contracts/reading.ts'

type EventStream = Pick<CompiledStream, 'schema' | 'format' | 'decode'>

/**
 * The payload of an event with the type that its source calls it by (a header, the name of an event), where it is
 * JSON and does not say so itself. It is what was sent from then on: for the quarantine, and for those who listen.
 */
export function withEventType(
  payload: Uint8Array,
  eventType: string | undefined,
  { schema: { events }, format = 'json', decode }: EventStream,
): Uint8Array {
  if (events === undefined || eventType === undefined || format !== 'json') return payload
  const decoded = decode(payload)
  if (!decoded.ok || decoded.isBatch) return payload
  const [event] = decoded.readings
  if (typeof event !== 'object' || event === null || Object.hasOwn(event, events.field)) {
    return payload
  }
  const start = payload.indexOf(braceByte) + 1
  const named = `${JSON.stringify(events.field)}:${JSON.stringify(eventType)}`
  const comma = Object.keys(event).length === 0 ? '' : ','
  const parts = [payload.subarray(0, start), Buffer.from(named + comma), payload.subarray(start)]
  return Buffer.concat(parts)
}

const braceByte = 0x7b
