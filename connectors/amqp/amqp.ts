import { setTimeout as sleep } from 'node:timers/promises'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { race } from '../../src/core/race.ts'
import { Deliveries } from './deliveries.ts'
import { type AmqpOptions, amqpOptions, parseAmqpEndpoint } from './options.ts'
import { deleteQueue, prepareQueue, temporaryQueue } from './queues.ts'
import { Receipts } from './receipts.ts'
import { describeRefusal } from './refusals.ts'
import { AmqpSession } from './session.ts'
import { amqpSource } from './source.ts'
import { StreamReader } from './stream-reader.ts'
import { lookInto } from './trial.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Readings from a queue of an AMQP 0-9-1 server, such as RabbitMQ. */
export const amqp: FetchConnector = {
  takes: (source) => isOfKind(amqpSource, source),
  destinationOf: ({ endpoint }) => parseAmqpEndpoint(endpoint as string),
  open: (definition) => new AmqpSource(amqpOptions(definition)),
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class AmqpSource implements FetchedSource {
  readonly identity: string
  readonly #options: AmqpOptions
  readonly #receipts: Receipts

  constructor(options: AmqpOptions) {
    const { endpoint, queue, queueType, subscription } = options
    const { host, port, vhost } = endpoint
    this.identity = JSON.stringify(['amqp', host, port, vhost, queue, queueType, subscription])
    this.#options = options
    this.#receipts = new Receipts(options.prefetch)
  }

  async run(run: FetchRun): Promise<void> {
    try {
      await this.#connect(run)
    } catch (error) {
      if (!run.signal.aborted) throw error
    }
  }

  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    if (this.#options.isTrial || this.#options.subscription === undefined) return
    const session = await AmqpSession.open(this.#options, run)
    try {
      await deleteQueue(session, this.#options)
    } finally {
      await session.end()
    }
  }

  async #connect(run: FetchRun): Promise<void> {
    const { signal } = run
    const session = await AmqpSession.open(this.#options, run)
    const giveUp = () => session.fail(new Error('the run was ended'))
    signal.addEventListener('abort', giveUp)
    let deliveries: Deliveries | undefined
    try {
      deliveries = await this.#begin(session, run)
      signal.removeEventListener('abort', giveUp)
      run.onRunning()
      await race([session.ended, aborted(signal)])
      const finished = deliveries?.close()
      await race([finished, sleep(finishMs, undefined, { ref: false })])
    } finally {
      signal.removeEventListener('abort', giveUp)
      await session.end()
      // What becomes durable after the next run has begun would be read twice.
      await deliveries?.close()
    }
  }

  /** @throws SourceRefused when the server does not let us have what the source names */
  async #begin(session: AmqpSession, run: FetchRun): Promise<Deliveries | undefined> {
    try {
      if (this.#options.isTrial) return await this.#try(session, run)
      await prepareQueue(session, this.#options)
      return await this.#consume(session, run)
    } catch (error) {
      throw describeRefusal(error)
    }
  }

  async #try(session: AmqpSession, run: FetchRun): Promise<Deliveries | undefined> {
    const { subscription, queueType, queue } = this.#options
    if (subscription !== undefined) {
      const own = await temporaryQueue(session, subscription)
      const deliveries = this.#deliveries(session, { run, acknowledges: false })
      await session.ask(session.channel.consume(own, deliveries.hear, { noAck: true }))
      return deliveries
    }
    if (queueType === 'stream') {
      await session.ask(session.channel.checkQueue(queue))
      return await this.#consume(session, run)
    }
    const sample = await lookInto(session, this.#options)
    run.onRunning()
    if (sample.length > 0) await run.accept(sample)
    return undefined
  }

  async #consume(session: AmqpSession, run: FetchRun): Promise<Deliveries> {
    const { queue, queueType, prefetch } = this.#options
    const { channel } = session
    const stream = queueType === 'stream' ? new StreamReader(run.position) : undefined
    const deliveries = this.#deliveries(session, { run, stream, acknowledges: true })
    await session.ask(channel.prefetch(prefetch))
    const start = stream && { arguments: { 'x-stream-offset': stream.start } }
    await session.ask(channel.consume(queue, deliveries.hear, { noAck: false, ...start }))
    if (stream) await session.ask(stream.found, stream.missing)
    return deliveries
  }

  #deliveries(
    session: AmqpSession,
    needs: Pick<ConstructorParameters<typeof Deliveries>[0], 'run' | 'stream' | 'acknowledges'>,
  ): Deliveries {
    return new Deliveries({ ...needs, session, options: this.#options, receipts: this.#receipts })
  }
}
