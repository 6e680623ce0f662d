import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel, ChannelModel } from 'amqplib'
import { type FetchRun, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { FrameGate } from './frame-gate.ts'
import { endAtOnce, type LibraryConnection, libraryOver } from './library.ts'
import type { AmqpOptions } from './options.ts'
import { AmqpError, describeRefusal } from './refusals.ts'

/** Time for a server to let us in, and to answer a question. */
const answerMs = 15_000

/** Time for a connection to end in good order: acknowledgements are under way until then. */
const endMs = 1_000

/** Seconds; a server that says nothing for twice as long is taken for dead. A server may want to hear us more often. */
const heartbeatSeconds = 30

/** Bytes of the largest frame, unless the server wants smaller ones: as RabbitMQ has it. */
const frameBytesMax = 131_072

interface AmqpSessionNeeds {
  readonly socket: Socket
  readonly connection: LibraryConnection
  readonly model: ChannelModel
}

/** One connection to a server, with one channel. */
export class AmqpSession {
  readonly #needs: AmqpSessionNeeds
  readonly #ended = Promise.withResolvers<never>()
  readonly gate: FrameGate
  #channel: Channel | undefined
  #isEnding = false

  /** @throws SourceRefused when the server does not want us; any other Error */
  static async open(
    options: AmqpOptions,
    { dial, signal }: Pick<FetchRun, 'dial' | 'signal'>,
  ): Promise<AmqpSession> {
    const { host, port } = options.endpoint
    const socket = await dial({ host, port, tls: options.tls, signal })
    const { connection, model } = libraryOver(socket)
    const session = new AmqpSession({ socket, connection, model })
    const giveUp = () => session.fail(new Error('the request was given up'))
    signal.addEventListener('abort', giveUp)
    try {
      signal.throwIfAborted()
      await session.ask(session.#greet(connection, options))
      session.#channel = await session.ask(model.createChannel())
      endAtOnce(session.#channel, (error) => session.fail(error))
      session.#channel.on('error', (error: Error) => session.fail(error))
      session.#channel.on('close', () => {
        if (!session.#isEnding) session.fail(new Error('the channel was closed'))
      })
      return session
    } catch (error) {
      session.fail(new Error('the server does not let us in'))
      throw describeRefusal(error)
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(needs: AmqpSessionNeeds) {
    this.#needs = needs
    const { connection, model, socket } = needs
    this.gate = new FrameGate(connection)
    // Nobody may be waiting for it at the time.
    this.#ended.promise.catch(() => undefined)
    model.on('error', (error) => this.fail(error))
    model.on('close', (error) => this.fail(error ?? new Error('the connection was closed')))
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the server has closed the connection')))
  }

  /** Rejects when the connection has ended, with the reason as far as it is known. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  get channel(): Channel {
    if (!this.#channel) throw new Error('the connection is not open')
    return this.#channel
  }

  /** Ends it at once, for this reason. */
  fail(reason: Error): void {
    const { closeReason } = this.gate
    this.#ended.reject(closeReason ? new AmqpError(closeReason.code, closeReason.text) : reason)
    // An error is needed, or the library goes on to send heartbeats.
    this.#needs.socket.destroy(reason)
  }

  /** What the server answers; @throws Error when it does not, or the connection ends */
  async ask<Answer>(
    answer: Promise<Answer>,
    unanswered = 'the server does not answer',
  ): Promise<Answer> {
    const silence = Promise.withResolvers<never>()
    const giveUp = () => silence.reject(new Error(unanswered))
    const patience = setTimeout(giveUp, answerMs)
    try {
      return await race([answer, this.ended, silence.promise])
    } finally {
      clearTimeout(patience)
    }
  }

  /** Says good-bye when all that was said before has been heard; breaks the connection when nobody listens. */
  async end(): Promise<void> {
    this.#isEnding = true
    const farewell = async () => {
      // The library sends what concerns a channel after what concerns the connection.
      await this.#channel?.close()
      await this.#needs.model.close()
    }
    await race([
      farewell().catch(() => undefined),
      this.ended.catch(() => undefined),
      sleep(endMs, undefined, { ref: false }),
    ])
    this.fail(new Error('the connection was closed'))
  }

  /** The handshake, AMQP 0-9-1, section 2.2.4. */
  async #greet(connection: LibraryConnection, options: AmqpOptions): Promise<void> {
    const { endpoint, login, connectionName } = options
    const { credentials } = await import('amqplib')
    const sasl =
      login === undefined
        ? credentials.external()
        : credentials.plain(login.username, login.password)
    const fields = {
      clientProperties: {
        product: 'Streamvault',
        connection_name: connectionName,
        capabilities: {
          'basic.nack': true,
          consumer_cancel_notify: true,
          authentication_failure_close: true,
        },
      },
      mechanism: sasl.mechanism,
      response: sasl.response(),
      locale: 'en_US',
      channelMax: 1,
      frameMax: frameBytesMax,
      maxFrameSize: frameBytesMax,
      heartbeat: heartbeatSeconds,
      virtualHost: endpoint.vhost,
      capabilities: '',
      insist: 0,
    }
    await new Promise<void>((resolve, reject) => {
      connection.open(fields, (error) => {
        if (error === null) resolve()
        else reject(this.#whyNot(error))
      })
    })
  }

  #whyNot(error: Error): Error {
    const { closeReason } = this.gate
    if (closeReason) return new AmqpError(closeReason.code, closeReason.text)
    if (error.message.startsWith('SASL mechanism')) return new SourceRefused(error.message)
    return error
  }
}
