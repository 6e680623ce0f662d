import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are nobody's on the internet, or that lead to others
 * (decisions.md#destinations-that-are-allowed). IPv4: the special ranges of the IANA registry
 * (RFC 6890), multicast and the reserved rest.
 */
const privateRanges4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]

/** All that IPv6 gives to anybody: loopback, local, mapped and NAT64 addresses lie outside of it. */
const publicRange6: readonly [string, number] = ['2000::', 3]

/** Within it: protocol assignments (Teredo among them), documentation, 6to4, AS112. */
const privateRanges6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const privateNetworks = new BlockList()
for (const [network, bits] of privateRanges4) privateNetworks.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of privateRanges6) privateNetworks.addSubnet(network, bits, 'ipv6')

const publicNetwork6 = new BlockList()
publicNetwork6.addSubnet(...publicRange6, 'ipv6')

/** Whether an address is one of the internet: of a text that is no address nothing is. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateNetworks.check(address, 'ipv4')
    case 6:
      // A zone (RFC 4007) only makes sense on a link, and the list would not look behind it.
      if (address.includes('%')) return false
      return publicNetwork6.check(address, 'ipv6') && !privateNetworks.check(address, 'ipv6')
    default:
      return false
  }
}
