import type { MessagePort, Transferable } from 'node:worker_threads'
import type { ErrorCode } from '../error-catalogue.ts'
import { DomainError, type ErrorDetail, messageOf } from '../errors.ts'
import { isFault } from './faults.ts'

/**
 * Calls from one thread to another: named procedures with one argument, answers in any order.
 * Nothing here knows what is called; the two sides share an interface of procedures.
 */
export type Procedures = Readonly<Record<string, (argument: never) => unknown>>

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
  /** What the cause says: for the log. */
  readonly cause?: string | undefined
}

/** A failure on the other side that is not a DomainError. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError'
}

/** What a procedure returns when memory of it is to go over to the caller instead of being copied. */
export class Moved<Result> {
  readonly value: Result
  readonly memory: readonly Transferable[]

  constructor(value: Result, memory: readonly Transferable[]) {
    this.value = value
    this.memory = memory
  }
}

/** Answers calls on a port until it is closed. */
export function serveCalls(port: MessagePort, procedures: Procedures): void {
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

async function answer({ id, name, argument }: Call, procedures: Procedures): Promise<Answer> {
  try {
    const procedure = procedures[name] as ((argument: unknown) => unknown) | undefined
    if (!procedure) throw new Error(`no procedure ${name}`)
    return { id, value: await procedure(argument) }
  } catch (error) {
    return { id, error: transported(error) }
  }
}

function transported(error: unknown): TransportedError {
  const message = messageOf(error)
  if (error instanceof DomainError) {
    const { code, retryAfter, details } = error
    const cause = error.cause === undefined ? undefined : messageOf(error.cause)
    return { message, code, retryAfter, details, cause }
  }
  return { message }
}

type Argument<Table, Name extends keyof Table> = Table[Name] extends (argument: infer A) => unknown
  ? A
  : never
type Value<Table, Name extends keyof Table> = Table[Name] extends (argument: never) => infer V
  ? Unmoved<Awaited<V>>
  : never
type Unmoved<Result> = Result extends Moved<infer Inner> ? Inner : Result

/**
 * The calling side. When the other thread ends, every open and later call is rejected. What the thread
 * tells of faults is not for callers.
 */
export class Caller<Table extends Procedures> {
  readonly #port: MessagePort
  /**
   * Open calls by id; ids are used again. No Map: one that entries come and go in is copied all the
   * time, and the copies left behind in old memory keep what they refer to alive, whole batches.
   */
  readonly #open: (PromiseWithResolvers<unknown> | undefined)[] = []
  readonly #freeIds: number[] = []
  #end: RemoteError | undefined

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (message: Answer) => {
      if (!isFault(message)) this.#settle(message)
    })
    port.on('close', () => this.close())
  }

  async call<Name extends keyof Table & string>(
    name: Name,
    argument: Argument<Table, Name>,
    transfer: readonly Transferable[] = [],
  ): Promise<Value<Table, Name>> {
    if (this.#end) throw this.#end
    const id = this.#freeIds.pop() ?? this.#open.length
    const pending = Promise.withResolvers<unknown>()
    this.#open[id] = pending
    try {
      this.#port.postMessage({ id, name, argument } satisfies Call, transfer)
    } catch (error) {
      // An argument that cannot be sent: nobody will answer, and nobody waits.
      this.#open[id] = undefined
      this.#freeIds.push(id)
      throw error
    }
    return (await pending.promise) as Value<Table, Name>
  }

  #settle({ id, value, error }: Answer): void {
    const pending = this.#open[id]
    this.#open[id] = undefined
    this.#freeIds.push(id)
    if (error === undefined) pending?.resolve(value)
    else pending?.reject(restored(error))
  }

  /** Rejects every open and later call: the other side is gone, by this error if it was one. */
  close(cause?: unknown): void {
    this.#end ??= new RemoteError('the thread has ended', { cause })
    for (const pending of this.#open) pending?.reject(this.#end)
    this.#open.length = 0
  }
}

function restored({ message, code, retryAfter, details, cause }: TransportedError): Error {
  if (code === undefined) return new RemoteError(message)
  return new DomainError(code, message, {
    ...(retryAfter !== undefined && { retryAfter }),
    ...(details !== undefined && { details }),
    ...(cause !== undefined && { cause: new RemoteError(cause) }),
  })
}
