import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { wallDate } from '../core/clock.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Input, UsageError } from './command.ts'
import { eventsOf, type StreamEvent } from './event-stream.ts'
import { Session } from './session.ts'
import { shownLines } from './shown-text.ts'
import { onStopSignals } from './stop-signals.ts'
import { streamOperand, streamPath } from './streams.ts'

/** After a connection has broken it is opened again this much later, and then ever more so. */
const retryMsFirst = 500
const retryMsMax = 15_000

/** A service that has nothing to send says so every 15 s. */
const silenceMsMax = 60_000

/** Ends that no further attempt can change. */
const finalErrors = ['not_found', 'position_expired', 'invalid_api_key', 'insufficient_permissions']

/** Follows a stream on standard output until it is stopped. */
export const tail: Command = {
  name: 'tail',
  summary: 'Follow the readings of a data stream as they arrive.',
  description:
    'Prints one reading a line, as JSON; with --json each with its position. When the connection ' +
    'breaks it goes on where it was. Ctrl-C ends it, and prints how many readings there were.',
  operands: [streamOperand],
  options: [
    { name: 'last', value: 'N', summary: 'First the newest N stored readings.' },
    { name: 'start', value: 'TIME', summary: 'First what is stored from this time on (RFC 3339).' },
    {
      name: 'from',
      value: 'POSITION',
      summary: 'Continue after this position of an earlier tail.',
    },
    { name: 'count', value: 'N', summary: 'End after so many readings.' },
    { name: 'quarantined', summary: 'Refused readings, too.' },
    ...serviceOptions,
  ],
  async run(input) {
    const following = new Tail(input)
    const stopping = new AbortController()
    const ignoreSignals = onStopSignals({ stop: () => stopping.abort() })
    try {
      await following.run(stopping.signal)
    } finally {
      ignoreSignals()
    }
    if (stopping.signal.aborted) following.printSummary()
    return { json: undefined, text: '' }
  },
}

class Tail {
  readonly #input: Input
  readonly #session: Session
  #position: string | undefined
  #left: number
  #count = 0
  readonly #since = wallDate()
  #retryMs = retryMsFirst

  constructor(input: Input) {
    this.#input = input
    this.#left = countOf(input.options['count'])
    this.#session = Session.open(input)
  }

  /** Resolves after so many readings as are wanted, or once the signal has ended it. */
  async run(stopped: AbortSignal): Promise<void> {
    while (this.#left > 0) {
      try {
        await this.#follow(stopped)
      } catch (error) {
        if (stopped.aborted) return
        // The first attempt shows what was typed wrongly; later ones meet a service that starts again.
        if (this.#position === undefined || isFinal(error)) throw error
      }
      if (this.#left === 0 || stopped.aborted) return
      await sleep(this.#retryMs, undefined, { signal: stopped }).catch(() => undefined)
      if (stopped.aborted) return
      this.#retryMs = Math.min(this.#retryMs * 2, retryMsMax)
    }
  }

  /** Says on standard error what was printed, and how to go on. */
  printSummary(): void {
    const since = this.#since.toISOString()
    const summary = { readings: this.#count, since, position: this.#position ?? null }
    const noun = this.#count === 1 ? 'reading' : 'readings'
    const from = this.#position === undefined ? '' : `; --from ${this.#position} goes on from here`
    const text = `${this.#count} ${noun} since ${since}${from}`
    process.stderr.write(`${this.#input.isJson ? JSON.stringify(summary) : text}\n`)
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    const path = `${streamPath(this.#input.operands)}/tail?${this.#query().toString()}`
    const incoming = await this.#open(path, stopped)
    const end = () => incoming.destroy()
    stopped.addEventListener('abort', end, { once: true })
    try {
      for await (const event of eventsOf(incoming, silenceMsMax)) {
        this.#position = event.position ?? this.#position
        if (event.type === 'end') throw endOf(event)
        if (event.data === undefined) continue
        await this.#print(event)
        this.#retryMs = retryMsFirst
        this.#count++
        this.#left--
        if (this.#left === 0) return
      }
    } finally {
      stopped.removeEventListener('abort', end)
      incoming.destroy()
    }
  }

  /** @throws CommandError also when there is no answer for too long */
  async #open(path: string, stopped: AbortSignal): Promise<IncomingMessage> {
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(), silenceMsMax)
    try {
      const either = AbortSignal.any([patience.signal, stopped])
      return await this.#session.open({ method: 'GET', path }, either)
    } finally {
      clearTimeout(timer)
    }
  }

  #query(): URLSearchParams {
    const { last, start, from, quarantined } = this.#input.options
    const begin = this.#position === undefined ? { last, start, from } : { from: this.#position }
    const include = quarantined === undefined ? undefined : 'quarantined'
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...begin, include })) {
      if (value !== undefined) query.set(name, value)
    }
    return query
  }

  async #print({ type, position, data = '' }: StreamEvent): Promise<void> {
    const line = this.#input.isJson
      ? `{"type":"${type}","position":"${position}","data":${data}}`
      : data
    if (!process.stdout.write(`${shownLines(line)}\n`)) await once(process.stdout, 'drain')
  }
}

function endOf({ data = '{}' }: StreamEvent): CommandError {
  const {
    error = 'failed',
    message = '',
    remedy,
  } = JSON.parse(data) as {
    readonly error?: string
    readonly message?: string
    readonly remedy?: string
  }
  return new CommandError(error, message, { remedy })
}

function isFinal(error: unknown): boolean {
  return error instanceof CommandError && finalErrors.includes(error.code)
}

/** @throws UsageError */
function countOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`--count must be a number from 1, not '${text}'`)
}
