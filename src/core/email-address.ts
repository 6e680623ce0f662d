import { domainToASCII } from 'node:url'

/** An address that mail can be sent to. */
export interface EmailAddress {
  /**
   * Address as it stands in envelopes and headers: ASCII, without anything that would have to be
   * quoted.
   */
  readonly wire: string
  /** What makes two addresses the same one. */
  readonly folded: string
}

/** RFC 5321, section 4.5.3.1. */
export const emailLengthMax = 254
const localLengthMax = 64

/** `Dot-string` of RFC 5321: neither quotes nor line breaks, nor anything else that has a meaning in a header. */
const localPattern = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/

const domainPattern =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

/** The only place where text from outside becomes an address; undefined when it is none that we send to. */
export function parseEmail(text: string): EmailAddress | undefined {
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(0, at))
  if (text.length > emailLengthMax || local.length > localLengthMax) return undefined
  const given = text.slice(at + 1)
  // What a URL would take as a number is an address of a machine, and no name.
  if (!localPattern.test(local) || /[\s%/?#\\:[\]]/.test(given)) return undefined
  const domain = domainToASCII(given).toLowerCase()
  if (!domainPattern.test(domain) || /(?:^|\.)\d+$/.test(domain)) return undefined
  return { wire: `${local}@${domain}`, folded: `${local}@${domain}`.toLowerCase() }
}
