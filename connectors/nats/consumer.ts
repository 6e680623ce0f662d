import type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { type FetchRun, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { NatsOptions } from './options.ts'
import { type NatsPosition, readPosition, writePosition } from './position.ts'
import { placeIn } from './stream.ts'

/** Messages that a server sends before the first of them is acknowledged, in nothing but our own consumer. */
const unacknowledgedMax = 5_000

/** Nanoseconds; after that a server sends again what was not acknowledged. A disk that is slow may take long. */
const ackWaitNs = 60e9

/** `err_code` of a consumer that is not there. */
export const consumerNotFound = 10_014

/** What messages are fetched from. */
export interface Consumption {
  readonly stream: string
  readonly consumer: string
  readonly created: string
  /**
   * Sequence up to which all that our own consumer has sent is durable. Undefined: only
   * acknowledgements say what was read.
   */
  readonly sequence: number | undefined
  /** How many messages it has sent before. */
  readonly delivered: number
  /** Whether each message is acknowledged, or with the newest one all before it. */
  readonly acknowledgesEach: boolean
  /** What somebody else has set for requests. */
  readonly limits: Pick<ConsumerConfig, 'max_batch' | 'max_bytes' | 'max_expires'>
}

interface Needs {
  readonly manager: JetStreamManager
  readonly options: NatsOptions
  readonly stream: StreamInfo
}

/**
 * Finds the consumer, or makes it. One of our own is made anew at our position where the server has messages under
 * way: it would else send those after others, and much later. That is not possible where others take from the
 * consumer, or where the stream keeps messages for consumers only: there the acknowledgements count.
 *
 * @throws SourceRefused when the consumer is of no use
 */
export async function findConsumer(needs: Needs, run: FetchRun): Promise<Consumption> {
  const { options, stream } = needs
  const before = placeIn(stream, readPosition(run.position))
  const isOurs = options.isOwnConsumer && stream.config.retention !== 'interest'
  return isOurs ? await ownConsumer(needs, run, before) : await sharedConsumer(needs, run, before)
}

async function ownConsumer(
  needs: Needs,
  run: FetchRun,
  before: NatsPosition | undefined,
): Promise<Consumption> {
  const { manager, options, stream } = needs
  const { name, retention } = stream.config
  const position = before ?? beginning(stream, options)
  if (before !== readPosition(run.position) || before === undefined) {
    await run.accept([], writePosition(position))
  }
  const isWorkQueue = retention === 'workqueue'
  const config: Partial<ConsumerConfig> = {
    ...commonConfig(options),
    ack_policy: isWorkQueue ? 'explicit' : 'all',
    // A work queue has nothing else.
    ...(isWorkQueue ? { deliver_policy: 'all' } : startAfter(position.sequence)),
  }
  const found = await existing(manager, name, options.consumer)
  const usable = found !== undefined && isUsable(found, config, position) ? found : undefined
  if (usable === undefined) {
    if (found !== undefined) await manager.consumers.delete(name, options.consumer)
    await manager.consumers.add(name, config)
  }
  return {
    stream: name,
    consumer: options.consumer,
    created: stream.created,
    sequence: position.sequence,
    delivered: usable?.delivered.consumer_seq ?? 0,
    acknowledgesEach: isWorkQueue,
    limits: {},
  }
}

/** Whether a consumer goes on exactly behind a position, and nobody asks it for more: a broken connection of ours, say. */
function isUsable(
  { config, delivered, num_ack_pending: underWay, num_waiting: requests }: ConsumerInfo,
  wanted: Partial<ConsumerConfig>,
  position: NatsPosition,
): boolean {
  const isSame =
    config.filter_subject === wanted.filter_subject &&
    config.ack_policy === wanted.ack_policy &&
    config.max_ack_pending === wanted.max_ack_pending
  return isSame && underWay === 0 && requests === 0 && delivered.stream_seq <= position.sequence
}

async function sharedConsumer(
  needs: Needs,
  run: FetchRun,
  before: NatsPosition | undefined,
): Promise<Consumption> {
  const { manager, options, stream } = needs
  const { name } = stream.config
  let info = await existing(manager, name, options.consumer)
  if (info === undefined) {
    const { sequence } = before ?? beginning(stream, options)
    const config = { ...commonConfig(options), ack_policy: 'explicit', ...startAfter(sequence) }
    info = await manager.consumers.add(name, config as Partial<ConsumerConfig>)
  }
  assertUsable(info, options, stream)
  const { created } = stream
  // Should somebody delete it, that is where another one begins.
  const position = { created, sequence: Math.max(before?.sequence ?? 0, info.ack_floor.stream_seq) }
  await run.accept([], writePosition(position))
  return {
    stream: name,
    consumer: options.consumer,
    created,
    sequence: undefined,
    delivered: 0,
    acknowledgesEach: true,
    limits: info.config,
  }
}

function assertUsable(
  { config }: ConsumerInfo,
  { topic, consumer }: NatsOptions,
  stream: StreamInfo,
) {
  const refuse = (reason: string) => {
    throw new SourceRefused(`the consumer ${consumer} ${reason}`)
  }
  if (config.deliver_subject !== undefined)
    refuse('is sent messages: it must be one that asks for them (pull)')
  if (config.ack_policy !== 'explicit') refuse('must have the acknowledgement policy explicit')
  const { filter_subject: one, filter_subjects: several } = config
  const filters = several ?? (one === undefined || one === '' ? stream.config.subjects : [one])
  const isTopic = filters.length === 1 && filters[0] === topic
  if (!isTopic && topic !== '>') refuse(`takes other subjects: ${filters.slice(0, 5).join(', ')}`)
}

function commonConfig({ consumer, topic }: NatsOptions): Partial<ConsumerConfig> {
  return {
    durable_name: consumer,
    ack_wait: ackWaitNs,
    max_ack_pending: unacknowledgedMax,
    max_deliver: -1,
    replay_policy: 'instant',
    filter_subject: topic,
  }
}

function startAfter(sequence: number): Partial<ConsumerConfig> {
  if (sequence === 0) return { deliver_policy: 'all' }
  return { deliver_policy: 'by_start_sequence', opt_start_seq: sequence + 1 }
}

/** Position before anything was read. */
function beginning({ created, state, config }: StreamInfo, options: NatsOptions): NatsPosition {
  if (!options.startsWithNew) return { created, sequence: 0 }
  if (config.retention === 'workqueue') {
    throw new SourceRefused(
      `the stream ${config.name} is a work queue, of which nothing can be left out: startFrom must be earliest`,
    )
  }
  return { created, sequence: state.last_seq }
}

async function existing(
  manager: JetStreamManager,
  stream: string,
  consumer: string,
): Promise<ConsumerInfo | undefined> {
  try {
    return await manager.consumers.info(stream, consumer)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === consumerNotFound) return undefined
    throw error
  }
}
