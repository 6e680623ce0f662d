import { isIP } from 'node:net'

/**
 * Names that are kept from public DNS, with all names under them, and who says so. `example.com` and its two
 * neighbours are reserved as well, but they are in public DNS like any other name.
 */
const reservedNames: ReadonlyMap<string, string> = new Map([
  ...['localhost', 'invalid', 'test', 'example'].map((name) => [name, 'RFC 6761'] as const),
  ...['10', '168.192', ...Array.from({ length: 16 }, (_, at) => `${16 + at}.172`)].map(
    (octets) => [`${octets}.in-addr.arpa`, 'RFC 6761'] as const,
  ),
  ['local', 'RFC 6762'],
  ['254.169.in-addr.arpa', 'RFC 6762'],
  ...['8', '9', 'a', 'b'].map((digit) => [`${digit}.e.f.ip6.arpa`, 'RFC 6762'] as const),
  // Its appendix G has the names that private networks use without anybody having given them.
  ...['intranet', 'private', 'corp', 'home', 'lan'].map((name) => [name, 'RFC 6762'] as const),
  ['internal', 'ICANN'],
  ['onion', 'RFC 7686'],
  ['home.arpa', 'RFC 8375'],
  ['alt', 'RFC 9476'],
])

/**
 * Why nobody finds this host in public DNS, as a sentence; undefined for addresses, and for names that may be
 * there.
 */
export function notPublic(host: string): string | undefined {
  if (isIP(host) !== 0) return undefined
  const labels = host.toLowerCase().replace(/\.+$/, '').split('.')
  const last = labels.at(-1) ?? ''
  const [reserved, source] = reservedOf(labels) ?? []
  if (source !== undefined) return `names in '${reserved}' are kept from public DNS (${source})`
  if (labels.length === 1) return 'a name of one label does not exist in public DNS'
  // No top-level domain is a number (RFC 3696, section 2): it would be another spelling of an address.
  if (/^(?:\d+|0x[\da-f]*)$/.test(last))
    return 'a name that ends in a number does not exist in public DNS'
  return undefined
}

function reservedOf(labels: readonly string[]): readonly [string, string] | undefined {
  for (const at of labels.keys()) {
    const name = labels.slice(at).join('.')
    const source = reservedNames.get(name)
    if (source !== undefined) return [name, source]
  }
  return undefined
}
