import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { unsafeContent } from '../core/json-safety.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, UsageError } from './command.ts'
import { Session } from './session.ts'
import { onStopSignals } from './stop-signals.ts'
import { streamOperand, streamPath } from './streams.ts'

/** Readings of one request. */
const batchMax = 1_000

/** How often a request is repeated that the service could not take at the moment. */
const attemptsMax = 8
const retryMsFirst = 250

const retryableErrors = [
  'service_unreachable',
  'rate_limited',
  'overloaded',
  'disk_low',
  'data_folder_gone',
  'journal_full',
]

/** How often progress is printed. */
const progressMs = 2_000

/** Sends the rows of a CSV file to a stream. */
export const replay: Command = {
  name: 'replay',
  summary: 'Send the rows of a CSV file to a data stream.',
  description:
    'The header names the fields; empty cells are left out. Batches carry an Idempotency-Key made of ' +
    'their content and their place in the file, so the same file can be sent again after an ' +
    'interruption: nothing is stored twice. Ctrl-C ends it, and prints how far it has come.',
  operands: [
    streamOperand,
    { name: 'FILE', summary: 'A CSV file with a header; - is standard input.' },
  ],
  options: [
    {
      name: 'timestamp-column',
      value: 'NAME',
      summary:
        'The column with the time of each row. Default: that of the stream, else the time of arrival.',
    },
    {
      name: 'map',
      value: 'LIST',
      summary: 'Columns under other names: column=field,column=field.',
    },
    { name: 'delimiter', value: 'CHAR', summary: 'Default: a comma.' },
    {
      name: 'speed',
      value: 'FACTOR',
      summary:
        'Keep the distances between the times of the rows, and go so many times faster. Default: as fast as possible.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const { operands, options, isJson } = input
    const session = Session.open(input)
    const path = streamPath(operands)
    const stream = await session.call<Definition>({ method: 'GET', path })
    const mapping = mappingOf(options['map'], options['timestamp-column'], stream)
    const stopping = new AbortController()
    const sender = new Sender({ session, path: `${path}/data`, isSilent: isJson })
    const pace = new Pace({
      speed: speedOf(options['speed']),
      field: stream.source?.timestampField ?? 'timestamp',
      stopped: stopping.signal,
    })
    const ignoreSignals = onStopSignals({ stop: () => stopping.abort() })
    try {
      for await (const row of rowsOf(operands['FILE'] ?? '', options['delimiter'] ?? ',')) {
        const reading = readingOf(row, mapping, stream)
        if (pace.isEarly(reading)) {
          await sender.flush()
          await pace.wait(reading)
        }
        if (stopping.signal.aborted) throw interrupted(sender)
        await sender.add(reading)
      }
      await sender.flush()
    } finally {
      ignoreSignals()
    }
    const { accepted, rejected } = sender
    return {
      json: { accepted, rejected },
      text: `${accepted} accepted, ${rejected} rejected`,
      ...(rejected > 0 && { notice: 'rejected readings are in the quarantine of the stream' }),
    }
  },
}

/** Of the batches that were sent: the others are as if they had not been read. */
function interrupted({ accepted, rejected }: Sender): CommandError {
  const message = `stopped after ${accepted} accepted, ${rejected} rejected`
  const remedy =
    'Run the same command again: it sends the file from its beginning, and nothing is stored twice.'
  return new CommandError('interrupted', message, { remedy })
}

interface Definition {
  readonly schema: Readonly<Record<string, { readonly type: string }>>
  readonly source?: { readonly timestampField?: string }
}

type Row = Readonly<Record<string, string>>
type Reading = Readonly<Record<string, unknown>>
type Mapping = ReadonlyMap<string, string>

/** Fields by the names of their columns, where they differ. @throws UsageError */
function mappingOf(
  list: string | undefined,
  timestampColumn: string | undefined,
  { source }: Definition,
): Mapping {
  const mapping = new Map<string, string>()
  for (const pair of list?.split(',') ?? []) {
    const [column, field, ...rest] = pair.split('=')
    if (!column || !field || rest.length > 0) {
      throw new UsageError(`--map must be such as temp=temperature,hum=humidity, not '${list}'`)
    }
    mapping.set(column, field)
  }
  if (timestampColumn !== undefined) mapping.set(timestampColumn, timeFieldOf(source))
  return mapping
}

/** The member that the time of a reading is in. @throws UsageError where it is further within: rows are flat */
function timeFieldOf({ timestampField = 'timestamp' }: Definition['source'] = {}): string {
  if (!/[.[$]/.test(timestampField)) return timestampField
  throw new UsageError(
    `the time of the stream is at ${timestampField}, where no column of a row is`,
  )
}

/** @throws UsageError */
function speedOf(text: string | undefined): number {
  const speed = text === undefined ? Number.POSITIVE_INFINITY : Number(text)
  if (speed > 0) return speed
  throw new UsageError(`--speed must be a number above 0, not '${text}'`)
}

/** @throws CommandError `unreadable_file` */
async function* rowsOf(file: string, delimiter: string): AsyncGenerator<Row> {
  const source = file === '-' ? process.stdin : createReadStream(file)
  const { parse } = await import('csv-parse')
  const parser = parse({ columns: true, bom: true, delimiter, skip_empty_lines: true })
  source.on('error', (error: Error) => parser.destroy(error))
  try {
    for await (const row of source.pipe(parser)) yield row as Row
  } catch (error) {
    throw new CommandError('unreadable_file', `${file} cannot be read: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

function readingOf(row: Row, mapping: Mapping, { schema }: Definition): Reading {
  const members = Object.entries(row)
    .filter(([, text]) => text !== '')
    .map(([column, text]) => {
      const field = mapping.get(column) ?? column
      return [field, valueOf(text, Object.hasOwn(schema, field) ? schema[field]?.type : undefined)]
    })
  return Object.fromEntries(members) as Reading
}

/** A cell as the value that the stream declares; as it stands when it is none, for the service to judge. */
function valueOf(text: string, type: string | undefined): unknown {
  if (type === undefined || type === 'string' || type === 'datetime') return text
  try {
    const value: unknown = JSON.parse(text)
    // What would not be sent as it stands is no value either: an integer that a double would round.
    return value === null || unsafeContent(text, value) !== undefined ? text : value
  } catch {
    return text
  }
}

interface PaceNeeds {
  readonly speed: number
  /** The member with the time. */
  readonly field: string
  /** Ends a wait. */
  readonly stopped: AbortSignal
}

/** Lets rows wait for their time. */
class Pace {
  readonly #needs: PaceNeeds
  readonly #startedMs = monotonicMs()
  #firstMs: number | undefined

  constructor(needs: PaceNeeds) {
    this.#needs = needs
  }

  isEarly(reading: Reading): boolean {
    return this.#waitMs(reading) > 0
  }

  async wait(reading: Reading): Promise<void> {
    const { stopped } = this.#needs
    await sleep(this.#waitMs(reading), undefined, { signal: stopped }).catch(() => undefined)
  }

  #waitMs(reading: Reading): number {
    const { speed, field } = this.#needs
    if (speed === Number.POSITIVE_INFINITY) return 0
    const timeMs = Date.parse(String(reading[field]))
    if (Number.isNaN(timeMs)) return 0
    this.#firstMs ??= timeMs
    const dueMs = (timeMs - this.#firstMs) / speed
    return dueMs - (monotonicMs() - this.#startedMs)
  }
}

interface PushAnswer {
  readonly accepted?: number
  readonly rejected?: readonly unknown[]
}

interface SenderNeeds {
  readonly session: Session
  readonly path: string
  readonly isSilent: boolean
}

/** Sends readings in batches, and counts those that were accepted and rejected. */
class Sender {
  accepted = 0
  rejected = 0
  readonly #needs: SenderNeeds
  #batch: Reading[] = []
  /** Rows of the file before the batch. */
  #rowsBefore = 0
  #printedMs = monotonicMs()

  constructor(needs: SenderNeeds) {
    this.#needs = needs
  }

  async add(reading: Reading): Promise<void> {
    this.#batch.push(reading)
    if (this.#batch.length >= batchMax) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#batch.length === 0) return
    const body = JSON.stringify(this.#batch)
    const count = this.#batch.length
    this.#batch = []
    const rejected = await this.#send(body, count)
    this.#rowsBefore += count
    this.accepted += count - rejected
    this.rejected += rejected
    if (this.#needs.isSilent || monotonicMs() - this.#printedMs < progressMs) return
    this.#printedMs = monotonicMs()
    process.stderr.write(`${this.accepted} accepted, ${this.rejected} rejected so far\n`)
  }

  /** How many of a batch were rejected. */
  async #send(body: string, count: number): Promise<number> {
    const { session, path } = this.#needs
    // Rows that are sent again have the same key, so that it is the same request. Equal rows further down
    // the file are other readings: without times of their own only their place tells them apart.
    const headers = { 'idempotency-key': hash('sha256', `${this.#rowsBefore} ${body}`) }
    for (let attempt = 1; ; attempt++) {
      try {
        const request = { method: 'POST', path, body, headers } as const
        const { rejected = [] } = await session.call<PushAnswer>(request)
        return rejected.length
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        // All of them: the answer has another form then.
        if (error.code === 'reading_rejected') return count
        if (attempt === attemptsMax || !retryableErrors.includes(error.code)) throw error
        await sleep(retryMsFirst * 2 ** attempt)
      }
    }
  }
}
