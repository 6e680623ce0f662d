import { problem } from './decode-binary.ts'
import type { Attribute } from './otlp-attributes.ts'
import type { DataKind } from './otlp-plan.ts'
import type { Members } from './protobuf-message.ts'

/**
 * Points of one request. A point of the least content takes 40 bytes with its time and its value, so this is more than a
 * body can have.
 */
const pointsMax = 100_000

/** Bytes that all points together take from what is around them: each reading has the attributes of its resource. */
const sharedBytesMax = 32 * 1024 * 1024

/** A point of a metric, as it stands in a request. */
export interface Point {
  readonly kind: DataKind
  /** What is around it. @throws UnreadableItem */
  readonly around: () => Around
  /** Its members, by the names that JSON has. @throws UnreadableItem */
  readonly read: () => Members
  /** A request with this point alone, and with what is around it. */
  readonly keep: () => Uint8Array
}

/** What the points of a metric share. */
export interface Around {
  readonly metric: Members
  readonly data: Members
  /** Attributes of the scope, then those of the resource: of two with one name the first one counts. */
  readonly attributes: readonly Attribute[]
}

/** The points of a request, in its order. */
export class Points {
  readonly found: Point[] = []
  #sharedBytes = 0

  /** @throws UnreadableItem when there are too many of them, or too much around them */
  add(point: Point, sharedBytes: number): void {
    if (this.found.length === pointsMax) {
      throw problem(`there are more than ${pointsMax} data points in one request`)
    }
    this.#sharedBytes += sharedBytes
    if (this.#sharedBytes > sharedBytesMax) {
      throw problem('too much is around the data points: send fewer of them in one request')
    }
    this.found.push(point)
  }
}

/** Work that is done once, and whose problem is that of all who ask. */
export function once<Value>(work: () => Value): () => Value {
  let known: { readonly value: Value } | { readonly error: unknown } | undefined
  return () => {
    known ??= outcome(work)
    if ('error' in known) throw known.error
    return known.value
  }
}

function outcome<Value>(
  work: () => Value,
): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
