import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { race } from '../../src/core/race.ts'
import { messageMaker } from './arrivals.ts'
import { connectToNats } from './connection.ts'
import { consumerNotFound, findConsumer } from './consumer.ts'
import { describeFailure } from './failures.ts'
import { Follower } from './follower.ts'
import { type NatsOptions, natsOptions, parseNatsEndpoint } from './options.ts'
import { natsSource } from './source.ts'
import { findStream, StreamMissing } from './stream.ts'
import { sampleOf } from './trial.ts'

/** Time for an answer of JetStream. */
const answerMs = 15_000

/** How long what is on its way to the disk, or to the server, is waited for when a run ends. */
const finishMs = 2_000

/** Messages of a stream of NATS JetStream. */
export const nats: FetchConnector = {
  takes: (source) => isOfKind(natsSource, source),
  destinationOf: ({ endpoint }) => {
    const { host, port } = parseNatsEndpoint(endpoint as string)
    return { host, port }
  },
  open: (definition) => new NatsSource(natsOptions(definition)),
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class NatsSource implements FetchedSource {
  readonly identity: string
  readonly #options: NatsOptions

  constructor(options: NatsOptions) {
    const { host, port, domain, stream, topic, consumer } = options
    this.identity = JSON.stringify(['nats', host, port, domain, stream, topic, consumer])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    try {
      await this.#connect(run)
    } catch (error) {
      if (!run.signal.aborted) throw describeFailure(error)
    }
  }

  /** Deletes a consumer of our own; from one with a given name others may take messages. */
  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    const { isOwnConsumer, isTrial, consumer } = this.#options
    if (!isOwnConsumer || isTrial) return
    try {
      const connection = await connectToNats(this.#options, run)
      try {
        const manager = await this.#managerOf(connection)
        const { config } = await findStream(manager, this.#options)
        await manager.consumers.delete(config.name, consumer)
      } finally {
        await connection.close()
      }
    } catch (error) {
      const { code } = error as { readonly code?: unknown }
      const isGone = error instanceof StreamMissing || code === consumerNotFound
      if (!isGone) throw describeFailure(error)
    }
  }

  async #connect(run: FetchRun): Promise<void> {
    const { signal } = run
    const connection = await connectToNats(this.#options, run)
    const failure = Promise.withResolvers<never>()
    // Nobody may be waiting for it at the time.
    failure.promise.catch(() => undefined)
    const giveUp = () => void connection.close()
    signal.addEventListener('abort', giveUp)
    let follower: Follower | undefined
    try {
      signal.throwIfAborted()
      watch(connection, failure.reject)
      const prepared = this.#prepare(connection, { run, onFailure: failure.reject })
      follower = await race([prepared, failure.promise])
      signal.removeEventListener('abort', giveUp)
      run.onRunning()
      await race([failure.promise, aborted(signal)])
    } finally {
      signal.removeEventListener('abort', giveUp)
      await this.#finish(connection, follower)
    }
  }

  /** What is durable is acknowledged before the connection ends. */
  async #finish(connection: NatsConnection, follower: Follower | undefined): Promise<void> {
    const inGoodOrder = async () => {
      await follower?.close()
      if (follower !== undefined && !connection.isClosed()) await connection.flush()
    }
    await race([inGoodOrder().catch(() => undefined), sleep(finishMs, undefined, { ref: false })])
    await connection.close()
    // What becomes durable after the next run has begun would be read twice.
    await follower?.close()
  }

  async #prepare(
    connection: NatsConnection,
    { run, onFailure }: { readonly run: FetchRun; readonly onFailure: (error: Error) => void },
  ): Promise<Follower | undefined> {
    const options = this.#options
    const manager = await this.#managerOf(connection)
    const stream = await findStream(manager, options)
    if (options.isTrial) {
      const sample = await sampleOf(manager, stream, options)
      if (sample.length > 0) await run.accept(sample)
      return undefined
    }
    const consumption = await findConsumer({ manager, options, stream }, run)
    const { createInbox } = await import('@nats-io/transport-node')
    const follower = new Follower({
      connection,
      prefix: options.domain === undefined ? '$JS.API' : `$JS.${options.domain}.API`,
      consumption,
      messageOf: messageMaker(options, consumption.stream),
      run,
      onFailure,
    })
    follower.start(() => createInbox())
    return follower
  }

  async #managerOf(connection: NatsConnection): Promise<JetStreamManager> {
    const { jetstreamManager } = await import('@nats-io/jetstream')
    const { domain } = this.#options
    return await jetstreamManager(connection, {
      checkAPI: false,
      timeout: answerMs,
      ...(domain !== undefined && { domain }),
    })
  }
}

/** Tells of what the server says against us, and of the end of the connection. */
function watch(connection: NatsConnection, onFailure: (error: Error) => void): void {
  const listen = async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error') onFailure(status.error)
    }
  }
  listen().catch(onFailure)
  connection
    .closed()
    .then(
      (error) => onFailure(error instanceof Error ? error : new Error('the connection has ended')),
      onFailure,
    )
}
