import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { messageMaker } from './arrivals.ts'
import type { NatsOptions } from './options.ts'

/** Messages of a sample, of which each is asked for. */
const messagesMax = 20

/** What the API of streams has and its types do not say: the next message of a subject (ADR-31). */
type NextOfSubject = Parameters<JetStreamManager['streams']['getMessage']>[1]

/**
 * The first messages of a stream, without a consumer: nothing is left behind, nobody's messages are taken, and a work
 * queue has no room for another consumer.
 */
export async function sampleOf(
  manager: JetStreamManager,
  stream: StreamInfo,
  options: NatsOptions,
): Promise<readonly FetchedMessage[]> {
  const { name } = stream.config
  const messageOf = messageMaker(options, name)
  const sample: FetchedMessage[] = []
  let sequence = stream.state.first_seq
  while (sample.length < messagesMax) {
    const query = { seq: sequence, next_by_subj: options.topic } as NextOfSubject
    const stored = await manager.streams.getMessage(name, query)
    if (stored === null) break
    const { subject, data, header, seq, time } = stored
    const msg = { subject, data, headers: header }
    const storedAtMs = time.getTime()
    const storedAtUs = Number.isFinite(storedAtMs) ? storedAtMs * 1_000 : undefined
    sample.push(messageOf({ sequence: seq, msg, storedAtUs }))
    sequence = seq + 1
  }
  return sample
}
