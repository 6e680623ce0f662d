import { answerIn, failureIn, unreachable } from './answer.ts'
import type {
  AnswerOf,
  Argument,
  AskedOfAny,
  Interface,
  NamedTexts,
  OperationId,
  OperationsOf,
} from './asked.ts'
import { type Outgoing, outgoing } from './request.ts'

export { ApiFailure, type FailureCode, type FailureDetail } from './api-failure.ts'
export type { Asked, Interface, OperationId, Operations, OperationsByKey } from './asked.ts'
export { newIdempotencyKey } from './request.ts'

export interface ClientOptions<One extends Interface> {
  /** Where the service is: `https://vault.example.com`. Empty for the one that a page came from. */
  readonly baseUrl?: string
  /** Sent with each call: credentials above all. A function is asked each time. */
  readonly headers?: NamedTexts | (() => NamedTexts | Promise<NamedTexts>)
  /** Whose types hold, those of `bearer` where nothing is said. The credentials have to fit. */
  readonly interface?: One
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** An answer, with what stands in its headers: the next page, the total, the version. */
export interface WholeAnswer<Answer> {
  readonly status: number
  readonly headers: Headers
  readonly answer: Answer
}

/**
 * Calls operations of the service by their ids. What fails is an `ApiFailure`; a call that its signal has ended fails
 * with the reason of the signal.
 */
export interface Client<Known> {
  /** The answer: JSON as its value, text as it came, all else as bytes, and nothing as undefined. */
  readonly call: <Id extends keyof Known & OperationId>(
    operationId: Id,
    ...asked: Argument<Known[Id]>
  ) => Promise<AnswerOf<Known[Id]>>
  /** The answer, with its status and its headers. */
  readonly callRaw: <Id extends keyof Known & OperationId>(
    operationId: Id,
    ...asked: Argument<Known[Id]>
  ) => Promise<WholeAnswer<AnswerOf<Known[Id]>>>
  /** A good answer whose body is not read yet: events as they come, and large files. */
  readonly open: <Id extends keyof Known & OperationId>(
    operationId: Id,
    ...asked: Argument<Known[Id]>
  ) => Promise<Response>
}

/** A client of the service at an address. */
export function createClient<One extends Interface = 'bearer'>({
  baseUrl = '',
  headers = {},
  fetch: send = (url, init) => fetch(url, init),
}: ClientOptions<One> = {}): Client<OperationsOf<One>> {
  const base = baseUrl.replace(/\/+$/, '')
  const prepared = async (operationId: OperationId, asked: AskedOfAny = {}) => {
    const own = typeof headers === 'function' ? await headers() : headers
    return outgoing(operationId, asked, own)
  }
  const opened = async (sent: Outgoing) => {
    const response = await responseTo(sent, () => send(base + sent.url, sent.init))
    if (response.ok) return response
    throw await failureIn(response, sent)
  }
  const callRaw = async (operationId: OperationId, asked?: AskedOfAny) => {
    const sent = await prepared(operationId, asked)
    const response = await opened(sent)
    const answer = await answerIn(response, sent)
    return { status: response.status, headers: response.headers, answer }
  }
  const client = {
    callRaw,
    call: async (operationId: OperationId, asked?: AskedOfAny) =>
      (await callRaw(operationId, asked)).answer,
    open: async (operationId: OperationId, asked?: AskedOfAny) =>
      await opened(await prepared(operationId, asked)),
  }
  // The types come from the document, and are no more there when it runs.
  return client as unknown as Client<OperationsOf<One>>
}

async function responseTo(sent: Outgoing, send: () => Promise<Response>): Promise<Response> {
  try {
    return await send()
  } catch (cause) {
    throw unreachable(cause, sent)
  }
}
