import { LedgerUnreachable } from '../ledger.ts'
import { failureOf, parsedJson, statusOf } from './node-failure.ts'
import {
  type NodeConnection,
  type Patience,
  type Posted,
  usualPatience,
  type Wording,
} from './wording.ts'

/** Requests of their own, for each time that something is asked. */
export class HttpConnection<Call, Answer> implements NodeConnection<Call, Answer> {
  readonly #endpoint: string
  readonly #wording: Wording<Call, Answer>

  constructor(endpoint: string, wording: Wording<Call, Answer>) {
    this.#endpoint = endpoint
    this.#wording = wording
  }

  async ask(calls: readonly Call[], patience = usualPatience): Promise<readonly Answer[]> {
    const posted = this.#wording.posted(calls)
    const answers = await Promise.all(posted.map((one) => this.#post(one, patience)))
    return answers.flat()
  }

  close(): void {
    // Nothing stays open.
  }

  async #post(
    { body, answersIn }: Posted<Answer>,
    { timeoutMs, signal }: Patience,
  ): Promise<readonly Answer[]> {
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
    try {
      const response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // The one who redirects could see what is asked, and answer what he likes.
        redirect: 'error',
        signal: AbortSignal.any(signals),
      })
      const text = await this.#limitedText(response)
      return answersOf(response, () => answersIn(parsedJson(text)))
    } catch (error) {
      throw failureOf(error)
    }
  }

  async #limitedText({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > this.#wording.answerBytesMax) {
        throw new LedgerUnreachable('the answer of the node is too long')
      }
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
}

/** Some nodes give errors of the protocol a status of their own: what can be read counts. */
function answersOf<Answers>({ ok, status }: Response, read: () => Answers): Answers {
  try {
    return read()
  } catch (error) {
    throw ok ? error : statusOf(status)
  }
}
