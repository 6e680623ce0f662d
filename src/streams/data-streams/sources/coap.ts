import { integer, type Json, type Problems, type Rule, text } from '../definition-problems.ts'
import { address, type SourceRules } from './source-rules.ts'

/** Characters of an address: it goes into one datagram. */
const addressLengthMax = 700

/** Bytes of one part of a path or of a query: RFC 7252, section 5.10. */
const partBytesMax = 255

const endpoint: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^coaps:/i.test(value)) {
    problems.add(key, 'must be of coap: DTLS (coaps) is not supported')
    return
  }
  address('coap')(value, key, problems)
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) return
  if (url.hash !== '') problems.add(key, 'must not have a fragment')
  if (!fits(url)) problems.add(key, 'has a path or a query that no request can have')
}

function fits({ href, pathname, search }: URL): boolean {
  try {
    const parts = [...pathname.split('/'), ...search.slice(1).split('&')].map(decodeURIComponent)
    return (
      href.length <= addressLengthMax &&
      parts.every((part) => Buffer.byteLength(part) <= partBytesMax)
    )
  } catch {
    return false
  }
}

/** Keys of a source that is a resource of a device, which tells when it changes. */
export const coapSource: SourceRules = {
  rules: {
    deviceId: text,
    endpoint,
    accept: integer(0, 65_535),
  },
  required: ['endpoint'],
  secretPlaces: ['endpoint'],
  checkAll: checkCoapSource,
}

function checkCoapSource(source: Json, problems: Problems): void {
  if (source['format'] === 'sparkplug') {
    problems.add('format', 'sparkplug comes from brokers only')
  }
  for (const key of ['eventTypes', 'eventTypeField']) {
    if (source[key] !== undefined) problems.add(key, 'is of no use with coap')
  }
}

/** Whether the device is asked to tell us: without an address there is nobody to be asked. */
export function isObserved({ protocol, endpoint: given }: Json): boolean {
  return protocol === 'coap' && given !== undefined
}
