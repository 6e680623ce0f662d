import { isIPv6 } from 'node:net'

/** Where a connection goes to. */
export interface Destination {
  /** A name or an address; one of IPv6 without brackets. */
  readonly host: string
  readonly port: number
}

/** What the operator lets us reach although it is private: `STREAMVAULT_EGRESS_ALLOW`. */
export class AllowedDestinations {
  readonly #texts: ReadonlySet<string>

  constructor(destinations: readonly Destination[]) {
    this.#texts = new Set(destinations.map(textOf))
  }

  has(destination: Destination): boolean {
    return this.#texts.has(textOf(destination))
  }
}

/** `host:port` as a destination, or nothing when it is none. */
export function parseDestination(text: string): Destination | undefined {
  const match = /^(?:\[([^\]]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port < 1 || port > 65_535) return undefined
  const [, address, name] = match
  if (address !== undefined && !isIPv6(address)) return undefined
  return { host: address ?? name ?? '', port }
}

/** A text that is the same however the host was spelled: names end in a dot or not, in any case. */
function textOf({ host, port }: Destination): string {
  const isPlain = isIPv6(host) && !host.includes('%')
  const name = isPlain ? new URL(`http://[${host}]`).hostname : host.toLowerCase()
  return `${name.replace(/\.$/, '')}:${port}`
}
