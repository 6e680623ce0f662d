import type { MessagePort, Transferable } from 'node:worker_threads'
import type { ErrorCode } from '../error-catalogue.ts'
import { DomainError, type ErrorDetail, messageOf } from '../errors.ts'
import { isFault } from './faults.ts'

/*
 * Calls from one thread to another: named procedures with one argument at most, answers in any order.
 * Nothing here knows what is called; the two sides share an interface of procedures, which is their contract.
 */

interface Call {
  readonly id: number
  readonly name: string
  readonly argument: unknown
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: TransportedError
}

/** An error as plain data: a structured clone would lose its class and fields. */
interface TransportedError {
  readonly message: string
  readonly code?: ErrorCode
  readonly retryAfter?: number | undefined
  readonly details?: readonly ErrorDetail[] | undefined
  readonly remedy?: string
  /** The text of the cause: for the log. */
  readonly cause?: string | undefined
}

/** A failure on the other side that is not a DomainError. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
}

/** The other side was told to end, and nothing has gone wrong: the service is stopping. */
export class ThreadEnded extends RemoteError {}

/** An argument, or what a procedure returns, whose memory is to go over to the other side instead of being copied. */
export class Moved<Result> {
  readonly value: Result
  readonly memory: readonly Transferable[]

  constructor(value: Result, memory: readonly Transferable[]) {
    this.value = value
    this.memory = memory
  }
}

/** Answers calls on a port until it is closed. */
export function serveCalls(port: MessagePort, procedures: object): void {
  port.on('message', (call: Call) => {
    void answer(call, procedures).then((message) => send(port, message))
  })
}

function send(port: MessagePort, message: Answer): void {
  const { id, value } = message
  try {
    if (value instanceof Moved) port.postMessage({ ...message, value: value.value }, value.memory)
    else port.postMessage(message)
  } catch (error) {
    // A value that cannot be sent: the caller waits for an answer all the same.
    port.postMessage({ id, error: transported(error) } satisfies Answer)
  }
}

async function answer({ id, name, argument }: Call, procedures: object): Promise<Answer> {
  try {
    const procedure = (procedures as Readonly<Record<string, (argument: unknown) => unknown>>)[name]
    if (!procedure) throw new Error(`no procedure ${name}`)
    return { id, value: await procedure(argument) }
  } catch (error) {
    return { id, error: transported(error) }
  }
}

function transported(error: unknown): TransportedError {
  const message = messageOf(error)
  if (error instanceof DomainError) {
    const { code, retryAfter, details, remedy } = error
    const cause = error.cause === undefined ? undefined : messageOf(error.cause)
    return { message, code, retryAfter, details, remedy, cause }
  }
  return { message }
}

/** The procedures of another thread as methods, each of which resolves with the answer. */
export type Remote<Table extends object> = {
  readonly [Name in keyof Table]: (
    ...argument: Sent<Parameters<Method<Table[Name]>>>
  ) => Promise<Unmoved<Awaited<ReturnType<Method<Table[Name]>>>>>
}
type Method<Member> = Member extends (...words: infer Words) => infer Result
  ? (...words: Words) => Result
  : never
type Sent<Words extends readonly unknown[]> = {
  readonly [At in keyof Words]: Words[At] | Moved<Words[At]>
}
type Unmoved<Result> = Result extends Moved<infer Inner> ? Inner : Result

/**
 * The calling side. When the other thread ends, every open and later call is rejected. What the thread
 * tells of faults is not for callers.
 */
export class Caller<Table extends object> {
  readonly #port: MessagePort
  /** Asks the other side. Each call rejects with RemoteError, or with the DomainError that was thrown there. */
  readonly calls: Remote<Table>
  /**
   * Open calls by id; ids are used again. No Map: one that entries come and go in is copied all the
   * time, and the copies left behind in old memory keep what they refer to alive, whole batches.
   */
  readonly #open: (PromiseWithResolvers<unknown> | undefined)[] = []
  readonly #freeIds: number[] = []
  #end: RemoteError | undefined

  constructor(port: MessagePort) {
    this.#port = port
    this.calls = new Proxy({}, { get: (_, name) => this.#methodOf(name) }) as Remote<Table>
    port.on('message', (message: Answer) => {
      if (!isFault(message)) this.#answer(message)
    })
    port.on('close', () => this.close())
  }

  #methodOf(name: string | symbol) {
    // What is asked for by `await`, or by who prints it, is no procedure.
    if (typeof name === 'symbol' || name === 'then') return undefined
    return (argument: unknown) => this.#call(name, argument)
  }

  async #call(name: string, argument: unknown): Promise<unknown> {
    if (this.#end) throw this.#end
    const id = this.#freeIds.pop() ?? this.#open.length
    const pending = Promise.withResolvers<unknown>()
    this.#open[id] = pending
    try {
      const { value, memory } = argument instanceof Moved ? argument : new Moved(argument, [])
      this.#port.postMessage({ id, name, argument: value } satisfies Call, memory)
    } catch (error) {
      // An argument that cannot be sent: nobody will answer, and nobody waits.
      this.#open[id] = undefined
      this.#freeIds.push(id)
      throw error
    }
    return await pending.promise
  }

  #answer({ id, value, error }: Answer): void {
    const pending = this.#open[id]
    this.#open[id] = undefined
    this.#freeIds.push(id)
    if (error === undefined) pending?.resolve(value)
    else pending?.reject(restored(error))
  }

  /** Rejects every open and later call: the other side is gone, by this error if it was one. */
  close(cause?: unknown): void {
    const message = 'the thread has ended'
    this.#end ??=
      cause === undefined ? new ThreadEnded(message) : new RemoteError(message, { cause })
    for (const pending of this.#open) pending?.reject(this.#end)
    this.#open.length = 0
  }
}

function restored({ message, code, cause, ...facts }: TransportedError): Error {
  if (code === undefined) return new RemoteError(message)
  const { retryAfter, details, remedy } = facts
  return new DomainError(code, message, {
    remedy,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(details !== undefined && { details }),
    ...(cause !== undefined && { cause: new RemoteError(cause) }),
  })
}
