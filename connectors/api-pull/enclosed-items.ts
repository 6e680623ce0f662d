import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { elementsOf, isList, type Slice, startOf } from './json-slices.ts'
import { asList, badAlone, messageOf, Portions } from './portions.ts'

/** Bytes of an answer around its items, which each message of some of them has: an answer with more is one message. */
const envelopeBytesMax = 256 * 1024

/** Bytes of the copies of one answer, all messages together. */
const envelopesBytesMax = 32 * 1024 * 1024

/** An answer that would have to be copied too often. */
class TooManyCopies extends Error {
  override readonly name = 'TooManyCopies'
}

/**
 * Cuts the list of items in an answer into messages that have some of the items each, and around them all that was
 * around the list, byte for byte: the stream finds items and what encloses them in each of these as in the whole answer.
 */
export async function enclosedItems(
  body: Buffer,
  items: Slice,
  source: string,
): Promise<{ readonly messages: readonly FetchedMessage[]; readonly count: number }> {
  const whole = { messages: [messageOf(body, source)], count: 1 }
  if (!isList(body, items)) {
    // There are APIs that have null for a list without items.
    const isNull = body.toString('latin1', items.start, items.end) === 'null'
    return isNull ? { messages: [], count: 0 } : whole
  }
  const join = enclosing(body.subarray(startOf(body), items.start), body.subarray(items.end))
  const portions = new Portions({ source, join, part: badAlone })
  try {
    for (const { start, end } of elementsOf(body, items)) {
      await portions.add(body.subarray(start, end))
    }
    await portions.end()
  } catch (error) {
    if (!(error instanceof TooManyCopies)) throw error
    return { ...whole, count: Array.from(elementsOf(body, items)).length }
  }
  return { messages: portions.messages, count: portions.count }
}

function enclosing(before: Buffer, after: Buffer): (items: readonly Buffer[]) => Buffer {
  const length = before.length + after.length
  let copied = 0
  return (items) => {
    copied += length
    if (length > envelopeBytesMax || copied > envelopesBytesMax) throw new TooManyCopies()
    // One item is a list as well: it stands where a list stood.
    const list = items.length === 1 ? [opening, ...items, closing] : [asList(items)]
    return Buffer.concat([before, ...list, after])
  }
}

const [opening, closing] = [Buffer.from('['), Buffer.from(']')]
