import type { ClientSession, OPCUAClient } from 'node-opcua-client'
import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { Attempt, answerMs, endMs, type Library, loadLibrary, patience } from './attempt.ts'
import type { OpcUaOptions } from './options.ts'
import type { KeyPair } from './trust.ts'

/** A request, as the library has them. */
interface Request {
  readonly schema: { readonly name: string }
  readonly requestHeader: { authenticationToken: unknown; timeoutHint: number }
}

/** An answer, as the library has them. */
export interface Answer {
  readonly schema: { readonly name: string }
  readonly responseHeader: {
    readonly serviceResult: { readonly value: number; readonly name: string }
  }
}

/** What a client of the library has and its types do not say: no session of its stands between us and the server. */
interface Wire {
  performMessageTransaction(
    request: Request,
    callback: (error: Error | null, answer?: Answer) => void,
  ): void
}

/** A server has answered with a state that is no good one. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer'
  readonly state: string

  constructor(state: string) {
    super(`the server answers ${state}`)
    this.state = state
  }
}

interface EnteredSession {
  readonly client: OPCUAClient
  readonly session: ClientSession
  readonly isReactivated: boolean
}

/** A session at a server, over one connection. */
export class OpcUaConnection {
  readonly library: Library
  readonly session: ClientSession
  /** Whether it is the session that an earlier connection had, with its subscription. */
  readonly isReactivated: boolean
  readonly #entered: EnteredSession
  readonly #ended = Promise.withResolvers<never>()
  #failure: Error | undefined

  /**
   * @param former a session whose connection has broken: it is gone on with where the server still has it
   * @throws SourceRefused when somebody has to mend something; any other Error when not
   */
  static async open(
    options: OpcUaOptions,
    run: Pick<FetchRun, 'dial' | 'signal'>,
    { keyPair, former }: { keyPair: KeyPair; former: ClientSession | undefined },
  ): Promise<OpcUaConnection> {
    const library = await loadLibrary()
    const attempt = new Attempt({ library, options, run, keyPair })
    const giveUp = () => attempt.giveUp(new Error('the run was ended'))
    run.signal.addEventListener('abort', giveUp)
    try {
      // The library waits for an answer although the connection has ended.
      const entered = await race([attempt.failed, attempt.enter(former)])
      return new OpcUaConnection(attempt, entered)
    } catch (error) {
      const described = attempt.describe(error)
      await attempt.end()
      throw described
    } finally {
      run.signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(attempt: Attempt, entered: EnteredSession) {
    this.#entered = entered
    this.library = attempt.library
    const { client, session, isReactivated } = entered
    this.session = session
    this.isReactivated = isReactivated
    this.#ended.promise.catch(() => undefined)
    attempt.onFailure = (failure) => this.fail(attempt.describe(failure))
    client.on('close', () => this.fail(new Error('the connection has ended')))
  }

  /** Rejects when the connection has ended, with the reason as far as it is known. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  /** @throws BadAnswer, or why the connection has ended */
  async ask<Wanted extends object>(request: object, patienceMs = answerMs): Promise<Wanted> {
    const asked = request as Request
    asked.requestHeader.authenticationToken = this.session.authenticationToken
    asked.requestHeader.timeoutHint = patienceMs
    const answered = Promise.withResolvers<Answer>()
    const wire = this.#entered.client as unknown as Wire
    wire.performMessageTransaction(asked, (error, answer) => {
      const fault = answer ?? (error as { readonly response?: Answer } | null)?.response
      if (fault !== undefined && fault.responseHeader.serviceResult.value >>> 30 !== 0) {
        answered.reject(new BadAnswer(fault.responseHeader.serviceResult.name))
      } else if (answer !== undefined && isAnswerTo(asked, answer)) answered.resolve(answer)
      else if (answer !== undefined) answered.reject(mistaken(asked, answer))
      else answered.reject(error ?? new Error('the server has not answered'))
    })
    // What it has ended for says more than that a request was not answered.
    return (await race([this.ended, answered.promise])) as unknown as Wanted
  }

  /** Ends it for a reason. */
  fail(reason: Error): void {
    this.#failure ??= reason
    this.#ended.reject(this.#failure)
  }

  /** @param keepsSubscription whether the server is to go on collecting for whoever comes next */
  async end(keepsSubscription: boolean): Promise<void> {
    const isBroken = this.#failure !== undefined
    const closing = async () => {
      if (!isBroken) await this.session.close(!keepsSubscription)
      await this.#entered.client.disconnect()
    }
    await race([closing().catch(() => undefined), patience(endMs)])
    this.fail(new Error('the connection was ended'))
  }
}

/** Numbers of requests may be mixed up: those of another connection, say. */
function isAnswerTo(asked: Request, answer: Answer): boolean {
  return answer.schema.name === asked.schema.name.replace(/Request$/, 'Response')
}

function mistaken(asked: Request, answer: Answer): Error {
  return new Error(`the server answers ${asked.schema.name} with ${answer.schema.name}`)
}
