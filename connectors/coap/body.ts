import type { NamedOption, ParsedPacket } from 'coap-packet'
import { monotonicMs } from '../../src/core/clock.ts'
import { blockOf, bytesOfBlock, optionOf } from './options.ts'

/** Longest body that is put together. */
const bodyBytesMax = 1024 * 1024

/** Time for all parts of it. */
const bodyMs = 60_000

/** A body as a whole, or why it cannot be taken; undefined: it has changed while it was read. */
export type Body = { readonly payload: Buffer; readonly problem?: string } | undefined

/**
 * Puts together what does not fit into a datagram: RFC 7959, section 3.4. The rest of a notification is asked for as
 * anybody would ask for it.
 *
 * @throws Error when a part is not answered
 */
export async function wholeBody(
  first: ParsedPacket,
  ask: (options: readonly NamedOption[]) => Promise<ParsedPacket>,
): Promise<Body> {
  const tag = optionOf(first, 'ETag')
  const begunAtMs = monotonicMs()
  const parts = [first.payload]
  let bytes = first.payload.length
  let block = blockOf(first)
  const problem = (text: string) => ({ payload: first.payload, problem: text })
  if (block !== undefined && block.number !== 0) return problem('it begins in its middle')
  for (let part = first; block?.hasMore === true; ) {
    // A size of seven is none: RFC 7959, section 2.2.
    if (block.size > 1024 || part.payload.length !== block.size)
      return problem('its parts do not fit')
    if (bytes > bodyBytesMax) return problem(`it is larger than ${bodyBytesMax} bytes`)
    if (monotonicMs() - begunAtMs > bodyMs) throw new Error('the device sends too slowly')
    const next = { number: bytes / block.size, size: block.size }
    part = await ask([{ name: 'Block2', value: bytesOfBlock(next) }])
    if (!part.code.startsWith('2.')) {
      throw new Error(`the device has answered ${part.code} when it was asked for the rest`)
    }
    const other = optionOf(part, 'ETag')
    if (tag !== undefined && other !== undefined && !tag.equals(other)) return undefined
    block = blockOf(part)
    // A server may take smaller parts from then on.
    if (block === undefined || block.number * block.size !== bytes) {
      return problem('its parts do not fit')
    }
    parts.push(part.payload)
    bytes += part.payload.length
  }
  if (bytes > bodyBytesMax) return problem(`it is larger than ${bodyBytesMax} bytes`)
  return { payload: Buffer.concat(parts) }
}
