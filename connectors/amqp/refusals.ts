import { SourceRefused } from '../../src/contracts/fetch-connector.ts'

/** What a reply code means to whom it concerns: AMQP 0-9-1, section 1.2, and what RabbitMQ makes of it. */
const meanings: Readonly<Record<number, string>> = {
  403: 'the server does not let us',
  404: 'something is missing on the server',
  405: 'the queue belongs to another connection alone',
  406: 'what is there is not what the source says',
  530: 'the server does not let us in',
  540: 'the server cannot do this with the queue',
}

/** An answer of the server that is an error. */
export class AmqpError extends Error {
  override readonly name = 'AmqpError'
  /** The reply code. */
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

/**
 * What came of something that the server was asked before it sends anything: a SourceRefused, where a repetition is
 * of no use.
 */
export function describeRefusal(error: unknown): Error {
  const { code, message } = error as { readonly code?: unknown; readonly message: string }
  const meaning = typeof code === 'number' ? meanings[code] : undefined
  if (meaning === undefined) return error as Error
  // The library puts its own words around those of the server.
  const [, text = message] = /with message "(.*)"$/s.exec(message) ?? []
  return new SourceRefused(`${meaning}: ${text}`, { cause: error })
}
