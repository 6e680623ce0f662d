import type {
  FetchedMessage,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

/** A run of a source whose messages are remembered as they are, without a journal. */
export class RecordedRun implements AsyncDisposable {
  readonly messages: FetchedMessage[] = []
  position: SourcePosition | undefined
  readonly #stop = new AbortController()
  readonly #ended: Promise<unknown>

  /** Whether the other side was reached. */
  isRunning = false

  /** @param begin where it goes on */
  constructor(source: FetchedSource, port: number, begin?: SourcePosition) {
    const allowed = new AllowedDestinations([{ host: '127.0.0.1', port }])
    const run: FetchRun = {
      position: begin,
      accept: async (messages, position) => {
        this.messages.push(...messages)
        this.position = position ?? this.position
        return []
      },
      onRunning: () => {
        this.isRunning = true
      },
      onHeldUp: () => undefined,
      onWaiting: () => undefined,
      onRound: () => undefined,
      wish: { grant: () => false, listen: () => () => undefined },
      nowUs: () => Date.now() * 1_000,
      dial: guardedDial(new EgressGuard({ allowed })),
      signal: this.#stop.signal,
    }
    this.#ended = source.run(run).catch((error: unknown) => error)
  }

  /** What it has failed with, or nothing. */
  get ended(): Promise<unknown> {
    return this.#ended
  }

  /** Texts of rows, of messages with many of them, too. */
  get rows(): readonly string[] {
    return this.messages.flatMap(({ payload }) => {
      const text = Buffer.from(payload).toString()
      return text.startsWith('[') ? text.slice(1, -1).split(/(?<=\}),(?=\{)/) : [text]
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }
}
