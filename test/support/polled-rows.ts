import { databasePoll } from '../../connectors/database/database-poll.ts'
import type { PolledSource } from '../../src/contracts/poll-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

type Json = Readonly<Record<string, unknown>>

/** Where a round ends before its time, as if the process was killed. */
export interface Cut {
  /** Pages that become durable. */
  readonly pages: number
}

export interface PolledOptions {
  /** Ports of this machine that may be connected to. */
  readonly ports?: readonly number[]
  readonly sqliteFolders?: readonly string[]
}

const now = () => systemClock.nowUs()

/** A source that is polled round by round: what became durable of it, as the journal would have it. */
export class PolledRows {
  readonly #options: PolledOptions
  #source: PolledSource
  position: SourcePosition | undefined
  readonly texts: string[] = []
  readonly problems: string[] = []
  pages = 0

  constructor(source: Json, options: PolledOptions = {}) {
    this.#options = options
    this.#source = this.#opened(source)
  }

  /** As after a change of its definition. */
  redefine(source: Json): void {
    this.#source = this.#opened(source)
  }

  /** One round, to its end or to where it is cut. */
  async poll(cut?: Cut, signal = new AbortController().signal): Promise<void> {
    const { ports = [] } = this.#options
    const allowed = new AllowedDestinations(ports.map((port) => ({ host: '127.0.0.1', port })))
    const dial = guardedDial(new EgressGuard({ allowed }))
    const { position } = this
    let left = cut?.pages ?? Number.POSITIVE_INFINITY
    for await (const page of this.#source.poll({ position, dial, signal, nowUs: now })) {
      // What was fetched and is not durable is lost.
      if (left-- <= 0) return
      this.pages++
      for (const { payload, problem } of page.messages) {
        if (problem === undefined) this.texts.push(Buffer.from(payload).toString())
        else this.problems.push(problem)
      }
      // As it comes out of the journal.
      this.position = page.position
        ? (JSON.parse(JSON.stringify(page.position)) as SourcePosition)
        : this.position
    }
  }

  get rows(): readonly Json[] {
    return this.texts.flatMap((text) => JSON.parse(text) as Json[])
  }

  #opened(source: Json): PolledSource {
    const { sqliteFolders = [] } = this.#options
    return databasePoll({ sqliteFolders }).open({ streamId: newId<StreamId>(), source })
  }
}
