import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** Where a connection goes to. */
export interface Destination {
  /** A name or an address; one of IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/** One entry of `STREAMVAULT_EGRESS_ALLOW`: a host or a network, with a port or a range of ports. */
export interface AllowedDestination extends Destination {
  /** The host is a network, and so many of its first bits are given. */
  readonly bits?: number
  /** The last port of a range that begins at `port`. */
  readonly portTo?: number
}

interface Ports {
  readonly from: number
  readonly to: number
}

interface Network extends Ports {
  readonly family: 'ipv4' | 'ipv6'
  readonly addresses: BlockList
}

/** What the operator lets us reach although it is private: `STREAMVAULT_EGRESS_ALLOW`. */
export class AllowedDestinations {
  /** By host, in the spelling of `hostText`. */
  readonly #hosts: ReadonlyMap<string, readonly Ports[]>
  readonly #networks: readonly Network[]

  constructor(entries: readonly AllowedDestination[]) {
    const hosts = entries.filter(({ bits }) => bits === undefined)
    const byHost = Map.groupBy(hosts, ({ host }) => hostText(host))
    this.#hosts = new Map([...byHost].map(([host, of]) => [host, of.map(portsOf)]))
    this.#networks = entries.flatMap((entry) => networkOf(entry) ?? [])
  }

  has({ host, port }: Destination): boolean {
    const isAmong = ({ from, to }: Ports) => from <= port && port <= to
    if (this.#hosts.get(hostText(host))?.some(isAmong)) return true
    const family = familyOf(host)
    // The list does not look behind a zone (RFC 4007), which means something on one link only.
    if (family === undefined || host.includes('%')) return false
    return this.#networks.some(
      (network) =>
        network.family === family && isAmong(network) && network.addresses.check(host, family),
    )
  }
}

/**
 * An entry of the setting: `host:port`, `host:from-to`, and for networks also without ports, which are all of them
 * then. Addresses of IPv6 stand in brackets where ports follow.
 *
 * @throws Error that says what is wrong with it, for an entry that nothing could ever match
 */
export function allowedDestination(text: string): AllowedDestination {
  if (text.includes('://')) throw new Error('is a URL: only its host and port are written here')
  const [, bracketed, plain, ports] =
    /^(?:\[([^[\]]*)\]|([^[\]]*?))(?::([^:[\]]*))?$/.exec(text) ?? []
  // What has several colons and no brackets is an address of IPv6 from end to end.
  const isPlain6 = bracketed === undefined && isIPv6(text.split('/')[0] ?? '')
  const host = isPlain6 ? text : (bracketed ?? plain ?? text)
  const given = isPlain6 ? undefined : ports
  if (bracketed !== undefined && !isIPv6(bracketed.split('/')[0] ?? '')) {
    throw new Error('has something else than an address of IPv6 in brackets')
  }
  if (host.includes('/')) return { ...networkFrom(host), ...portsFrom(given ?? '1-65535') }
  assertHost(host)
  if (given === undefined) throw new Error(`has no port, such as ${entryText({ host, port: 443 })}`)
  return { host, ...portsFrom(given) }
}

/** The entry that allows this one destination; undefined for a host that can be in none. */
export function entryAllowing(destination: Destination): string | undefined {
  const text = entryText(destination)
  try {
    allowedDestination(text)
    return text
  } catch {
    return undefined
  }
}

/** `host:port`, with an address of IPv6 in brackets (RFC 3986, section 3.2.2). */
export function entryText({ host, port }: Destination): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function networkFrom(text: string): Pick<AllowedDestination, 'host' | 'bits'> {
  const [host = '', bits = ''] = text.split('/', 2)
  const version = isIP(host)
  const bitsMax = version === 4 ? 32 : 128
  const isNetwork = version !== 0 && !host.includes('%') && text.split('/').length === 2
  if (!isNetwork || !/^\d{1,3}$/.test(bits) || Number(bits) > bitsMax) {
    throw new Error('is not a network such as 10.0.0.0/8')
  }
  return { host, bits: Number(bits) }
}

function portsFrom(text: string): Pick<AllowedDestination, 'port' | 'portTo'> {
  const [, first, last] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const port = Number(first)
  const portTo = Number(last ?? first)
  if (!(port >= 1 && port <= portTo && portTo <= 65_535)) {
    throw new Error('needs a port from 1 to 65535, or a range such as 8000-8100')
  }
  return { port, ...(last !== undefined && { portTo }) }
}

/** @throws Error for what no name or address of a destination can be */
function assertHost(host: string): void {
  if (isIP(host) !== 0) return
  if (host.includes('*')) {
    throw new Error('has an asterisk: write a network, such as 0.0.0.0/0, or each host')
  }
  const labels = host.replace(/\.$/, '').split('.')
  if (!labels.every((label) => labelPattern.test(label)) || host.length > hostLengthMax) {
    throw new Error('has a host that is neither a name nor an address')
  }
  // The parser of URLs makes an address of these, so none of them would be found again.
  if (numberPattern.test(labels.at(-1) ?? '')) {
    throw new Error('has an address that is not written as four numbers')
  }
}

/** Underscores are no letters of host names, but there are machines that have them. */
const labelPattern = /^[\p{L}\p{N}\p{M}_](?:[\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?$/u
const hostLengthMax = 254

/**
 * A last label that makes a host an IPv4 address:
 * https://url.spec.whatwg.org/#ends-in-a-number-checker
 */
const numberPattern = /^(?:\d+|0x[\da-f]*)$/i

function portsOf({ port, portTo = port }: AllowedDestination): Ports {
  return { from: port, to: portTo }
}

function networkOf(entry: AllowedDestination): Network | undefined {
  const { host, bits } = entry
  const family = familyOf(host)
  if (bits === undefined || family === undefined) return undefined
  const addresses = new BlockList()
  addresses.addSubnet(host, bits, family)
  return { ...portsOf(entry), family, addresses }
}

function familyOf(host: string): Network['family'] | undefined {
  if (isIPv4(host)) return 'ipv4'
  return isIPv6(host) ? 'ipv6' : undefined
}

/** A text that is the same however the host was spelled: names end in a dot or not, in any case and script. */
function hostText(host: string): string {
  const isPlain = isIPv6(host) && !host.includes('%')
  const name = isPlain ? new URL(`http://[${host}]`).hostname : asciiName(host)
  return name.replace(/\.$/, '')
}

/** As names are asked for (RFC 5890). What is ASCII already stays as it is: `127.1` is no address here. */
function asciiName(name: string): string {
  const isAscii = /^[\x21-\x7e]*$/.test(name)
  return isAscii ? name.toLowerCase() : domainToASCII(name) || name.toLowerCase()
}
