import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'

/** A mail as it came: its envelope, its bytes, and what a mail program makes of them. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: Buffer
  readonly parsed: Email
  readonly isSecure: boolean
  readonly user: string | undefined
}

/** What the server says to an address, or to a whole mail: nothing when all is well. */
export interface Behaviour {
  readonly onSender?: () => Error | undefined
  readonly onRecipient?: (address: string) => Error | undefined
  /** Resolves when the server answers. */
  readonly onMail?: (mail: ReceivedMail) => Error | undefined | Promise<Error | undefined>
}

/** An answer other than 250. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

const mailTimeoutMs = 60_000

/** A real mail server, which does with each mail what it was told to. */
export class MailServer implements AsyncDisposable {
  readonly received: ReceivedMail[] = []
  behaviour: Behaviour = {}
  /** Connections since the start. */
  connected = 0
  readonly #server: SMTPServer
  readonly #sockets = new Set<Socket>()
  #changed = Promise.withResolvers<void>()

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const server = new MailServer(options)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server.server, 'listening')
    return server
  }

  private constructor(options: SMTPServerOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      closeTimeout: 1,
      onMailFrom: (_address, _session, done) => done(this.behaviour.onSender?.() ?? null),
      onRcptTo: ({ address }, _session, done) => {
        done(this.behaviour.onRecipient?.(address) ?? null)
      },
      onData: (stream, session, done) => void this.#receive(stream, session, done),
      ...options,
    })
    this.#server.on('error', () => undefined)
    this.#server.server.on('connection', (socket: Socket) => {
      this.connected++
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`
  }

  /** How many are connected now. */
  get connections(): number {
    return this.#sockets.size
  }

  /** Ends every connection, whatever it is doing. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Resolves with the first so many mails. @throws Error when they do not come in time */
  async mails(count: number): Promise<readonly ReceivedMail[]> {
    const deadline = AbortSignal.timeout(mailTimeoutMs)
    const late = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () =>
        reject(new Error(`${this.received.length} of ${count} mails came`)),
      )
    })
    late.catch(() => undefined)
    while (this.received.length < count) {
      this.#changed = Promise.withResolvers()
      await Promise.race([this.#changed.promise, late])
    }
    return this.received.slice(0, count)
  }

  /** Mails to this address, once there are so many. */
  async mailsTo(address: string, count: number): Promise<readonly ReceivedMail[]> {
    for (;;) {
      const found = this.received.filter(({ to }) => to.includes(address))
      if (found.length >= count) return found
      await this.mails(this.received.length + 1)
    }
  }

  countTo(address: string): number {
    return this.received.filter(({ to }) => to.includes(address)).length
  }

  async #receive(
    stream: Readable,
    session: SMTPServerSession,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    // A client that goes away in the middle leaves no mail.
    const raw = await buffer(stream).catch(() => undefined)
    if (raw === undefined) return
    const mail = await receivedMail(raw, session)
    this.received.push(mail)
    this.#changed.resolve()
    done((await this.behaviour.onMail?.(mail)) ?? null)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop()
    await new Promise<void>((resolve) => this.#server.close(resolve))
  }
}

async function receivedMail(raw: Buffer, session: SMTPServerSession): Promise<ReceivedMail> {
  const { mailFrom, rcptTo } = session.envelope
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    raw,
    parsed: await PostalMime.parse(raw),
    isSecure: session.secure,
    user: session.user as string | undefined,
  }
}
