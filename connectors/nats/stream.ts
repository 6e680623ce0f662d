import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { NatsOptions } from './options.ts'
import type { NatsPosition } from './position.ts'

/** `err_code` of a stream that is not there. */
const streamNotFound = 10_059

/** The stream is not there, or not yet. */
export class StreamMissing extends SourceRefused {}

/** @throws StreamMissing when there is none with the name, or not exactly one that keeps the topic */
export async function findStream(
  manager: JetStreamManager,
  { topic, stream }: Pick<NatsOptions, 'topic' | 'stream'>,
): Promise<StreamInfo> {
  if (stream !== undefined) return await namedStream(manager, stream)
  try {
    return await namedStream(manager, await manager.streams.find(topic))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== streamNotFound) throw error
    throw new StreamMissing(
      `no stream of JetStream keeps the subject ${topic}, or several do: then stream has to name one of them`,
      { cause: error },
    )
  }
}

async function namedStream(manager: JetStreamManager, name: string): Promise<StreamInfo> {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== streamNotFound) throw error
    throw new StreamMissing(`there is no stream ${name}`, { cause: error })
  }
}

/** Where reading goes on: at the beginning of a stream that was made anew, or is empty again. */
export function placeIn(
  stream: StreamInfo,
  before: NatsPosition | undefined,
): NatsPosition | undefined {
  if (before === undefined) return undefined
  const { created, state } = stream
  const isTheSame = before.created === created && before.sequence <= state.last_seq
  return isTheSame ? before : { created, sequence: 0 }
}
