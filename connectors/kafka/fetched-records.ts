import { isUtf8 } from 'node:buffer'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import type { Partition } from './cluster.ts'
import type { Answer } from './library.ts'

type FetchedPartition = Answer<'Fetch'>['responses'][number]['partitions'][number]
type Batch = NonNullable<FetchedPartition['records']>[number]
type RecordOfBatch = Batch['records'][number]

/**
 * Attributes of a batch: its records have the time at which the broker got it, it is part of a transaction, it says how
 * a transaction ended.
 */
const [hasLogTime, isTransactional, isControl] = [0x08, 0x10, 0x20]

/** Headers that say what an event is: the first is that of CloudEvents (Kafka protocol binding, section 3.2.3.1). */
const eventTypeHeaders: readonly string[] = ['ce_type', 'eventType']

/** Bytes of a key, and of a header, that can be read: a longer one is a message of its own. */
const textBytesMax = 16 * 1024

/** Milliseconds since the epoch that can be microseconds. */
const msMax = Number.MAX_SAFE_INTEGER / 1_000

/** What stands between the levels of the name of a topic. */
const separator = '.' as const

/** Messages of one partition, with the offset that each of them leads to. */
export interface PartitionMessages {
  readonly partition: Partition
  readonly messages: readonly FetchedMessage[]
  /** Offsets to go on with behind each message. */
  readonly nexts: readonly number[]
  /** Where to go on behind all of them, and behind what is no message. */
  readonly next: number
}

interface Context {
  readonly partition: Partition
  /** Offset that was asked for: a batch begins before it, perhaps. */
  readonly from: number
  readonly hasEventTypes: boolean
  /** Whether what is known of a message beside its value is wanted. */
  readonly isMapped: boolean
}

/**
 * Messages of what a broker sent of one partition. Those of transactions that were given up are left out, and so are
 * those without a value: they say that a key is deleted, which is no reading.
 */
export function messagesOf(
  { records, abortedTransactions }: FetchedPartition,
  { partition, from, hasEventTypes, isMapped }: Context,
): PartitionMessages {
  const messages: FetchedMessage[] = []
  const nexts: number[] = []
  let next = from
  const aborted = new Aborted(abortedTransactions ?? [])
  const place = `topic ${partition.topic}, partition ${partition.index}, offset `
  for (const batch of records ?? []) {
    const first = Number(batch.firstOffset)
    const end = first + batch.lastOffsetDelta + 1
    const isLeftOut = aborted.takes(batch, first)
    for (const record of isLeftOut ? [] : batch.records) {
      const offset = first + record.offsetDelta
      const payload: Buffer | null = record.value
      if (offset < from || payload === null) continue
      const eventType = hasEventTypes ? eventTypeOf(record) : undefined
      const source = place + offset
      const message = {
        payload,
        source,
        topic: partition.topic,
        separator,
        ...(eventType !== undefined && { eventType }),
      }
      messages.push(isMapped ? { ...message, ...contextOf(record, batch) } : message)
      nexts.push(offset + 1)
    }
    next = Math.max(next, end)
  }
  return { partition, messages, nexts, next }
}

function eventTypeOf(record: RecordOfBatch): string | undefined {
  const list = headersOf(record)
  for (const wanted of eventTypeHeaders) {
    const found = list.find(([name]) => name?.toString() === wanted)
    if (found?.[1]) return found[1].toString()
  }
  return undefined
}

function headersOf({ headers }: RecordOfBatch) {
  return headers as unknown as readonly (readonly [Buffer | null, Buffer | null])[]
}

/** What a broker says of a message beside its value. What is no text is left out. */
function contextOf(
  record: RecordOfBatch,
  { attributes, firstTimestamp, maxTimestamp }: Batch,
): Pick<FetchedMessage, 'headers' | 'key' | 'sentAtUs'> {
  const texts = headersOf(record).map(
    ([name, value]) => [readable(name)?.toLowerCase() ?? '', readable(value)] as const,
  )
  const key = readable(record.key)
  // Milliseconds since the epoch; -1 for none.
  const isLogTime = (attributes & hasLogTime) !== 0
  const sentAtMs = Number(isLogTime ? maxTimestamp : firstTimestamp + record.timestampDelta)
  return {
    headers: contextTexts(texts),
    ...(key !== undefined && { key }),
    ...(sentAtMs >= 0 && sentAtMs <= msMax && { sentAtUs: sentAtMs * 1_000 }),
  }
}

function readable(bytes: Buffer | null): string | undefined {
  if (bytes === null || bytes.length > textBytesMax || !isUtf8(bytes)) return undefined
  return bytes.toString()
}

/** Transactions that were given up: of a producer from an offset on, until its batch that says so. */
class Aborted {
  readonly #coming: { readonly producerId: bigint; readonly firstOffset: bigint }[]
  readonly #producers = new Set<bigint>()

  constructor(
    transactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[],
  ) {
    this.#coming = transactions.toSorted((one, other) =>
      Number(one.firstOffset - other.firstOffset),
    )
  }

  /** Whether nothing in a batch is a message. Batches have to come in their order. */
  takes({ attributes, producerId, lastOffsetDelta }: Batch, first: number): boolean {
    while (
      Number(this.#coming[0]?.firstOffset ?? Number.POSITIVE_INFINITY) <=
      first + lastOffsetDelta
    ) {
      this.#producers.add(this.#coming.shift()?.producerId as bigint)
    }
    if (attributes & isControl) {
      this.#producers.delete(producerId)
      return true
    }
    return (attributes & isTransactional) !== 0 && this.#producers.has(producerId)
  }
}
