import { isIPv6 } from 'node:net'

/**
 * The sender that an address stands for. A whole /64 of IPv6 is one: whoever has one address of it has
 * them all.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('%', 1).join('').split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const rest = tail.split(':').filter((group) => group !== '')
  const zeros = address.includes('::') ? 8 - groups.length - rest.length : 0
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...rest]
  return `${all.slice(0, 4).join(':')}::/64`
}
