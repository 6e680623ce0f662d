import { isIP } from 'node:net'

/** A token has more characters; a shorter part, such as `v2`, would be hidden in words that have nothing to do with it. */
const tokenCharsMin = 8

/** What to hide in a text of others: it gives the text without. */
export type Hide = (text: string) => string

/**
 * Hides addresses, also where a text names a part of one: its host, and whatever in it may be a token. Messages of libraries say where
 * something has failed.
 */
export function hiding(addresses: readonly string[]): Hide {
  const parts = new Set(addresses.flatMap(partsOf))
  // What is within another one comes after that.
  const hidden = [...parts].sort((one, other) => other.length - one.length)
  return (text) => hidden.reduce((left, part) => left.replaceAll(part, '[address]'), text)
}

function partsOf(address: string): readonly string[] {
  if (!URL.canParse(address)) return [address]
  const { href, host, hostname, pathname, search } = new URL(address)
  // Everybody has the addresses of this machine, and says them in other messages, too.
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && hostname !== 'localhost'
  const hosts = [host, hostname].filter((one) => isNamed || one !== hostname)
  const parts = `${pathname}${search}`.split(/[/?&=]/)
  return [address, href, ...hosts, ...parts.filter((part) => part.length >= tokenCharsMin)]
}
