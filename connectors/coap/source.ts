import { type Field, integer, text } from '../../src/contracts/definitions/fields.ts'
import { sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { address, hasScheme } from '../fields/addresses.ts'

/** Characters of an address: it goes into one datagram. */
const addressLengthMax = 700

/** Bytes of one part of a path or of a query: RFC 7252, section 5.10. */
const partBytesMax = 255

const coapAddress = address('coap')

const endpoint: Field<string> = {
  ...coapAddress,
  rule: (value, key, problems) => {
    if (hasScheme(value, 'coaps')) {
      problems.add(key, 'must be of coap: DTLS (coaps) is not supported')
      return
    }
    coapAddress.rule(value, key, problems)
    const url = typeof value === 'string' ? URL.parse(value) : null
    if (url === null) return
    if (url.hash !== '') problems.add(key, 'must not have a fragment')
    if (!fits(url)) problems.add(key, 'has a path or a query that no request can have')
  },
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

/** Resources of devices that tell when they change. Without an address there is nobody to be asked. */
export const coapSource = sourceKind({
  name: 'CoapSource',
  family: 'device',
  protocols: ['coap'],
  takes: ({ protocol, endpoint: given }) => protocol === 'coap' && given !== undefined,
  payloads: 'events',
  refuses: { eventTypes: 'is of no use with coap' },
  secretPlaces: ['endpoint'],
  fields: {
    endpoint: {
      ...endpoint,
      isRequired: true,
      doc: '`coap://host:port/path?query`; the port is 5683 if nothing else is said; [secrets](api-pull.md#secrets-in-other-places) in path and query as `${name}`',
    },
    accept: {
      ...integer(0, 65_535),
      doc: 'number of the Content-Format that the device is asked for: 50 is JSON, 60 is CBOR. Nothing is asked for without it',
    },
    deviceId: { ...text, doc: 'a name of the device, for you' },
  },
  checkAll: ({ format }, problems) => {
    if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
  },
})
