import * as sparkplug from 'sparkplug-payload'

/** The library of Eclipse Tahu, which edge nodes are written with. */
const library = sparkplug.get('spBv1.0')
if (!library) throw new Error('the library does not know Sparkplug B')
const { encodePayload, decodePayload } = library

type Payload = Parameters<typeof encodePayload>[0]
export type Metric = NonNullable<Payload['metrics']>[number]

export function metric(type: Metric['type'], value: Metric['value'], rest: Partial<Metric> = {}) {
  return { type, value, ...rest }
}

export function payloadOf(
  metrics: readonly Metric[],
  rest: { readonly seq?: number; readonly timestamp?: number } = {},
): Uint8Array {
  return encodePayload({ ...rest, metrics: [...metrics] })
}

export function readPayload(bytes: Uint8Array): Payload {
  return decodePayload(bytes)
}
