import { createReadStream, statSync } from 'node:fs'
import { extname } from 'node:path'
import { Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core/errors.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Input, type Outcome, UsageError } from './command.ts'
import { ProgressBar } from './progress-bar.ts'
import { Session } from './session.ts'
import { onStopSignals } from './stop-signals.ts'
import { streamOperand, streamPath } from './streams.ts'

/** How often it is asked how far the service is. */
const askMs = 300

const formats = ['csv', 'ndjson', 'parquet'] as const

type Format = (typeof formats)[number]

const contentTypes: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

const formatOfEnding: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.parquet': 'parquet',
}

interface Job {
  readonly importId: string
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
  readonly progress: number
  readonly accepted: number
  readonly refused: number
  readonly duplicates: number
  readonly failure: { readonly message: string } | null
  readonly refusals: readonly { readonly row: number; readonly message: string }[]
}

/** Has the service import the readings of a file. */
export const importReadings: Command = {
  name: 'import',
  summary: 'Import the readings of a file into a data stream.',
  description:
    'The service reads the file in the background. Its readings move no alerts, and those that are stored ' +
    'already are stored once. Run again after an interruption, the command sends the file from its beginning.',
  operands: [streamOperand, { name: 'FILE', summary: 'CSV with a header, NDJSON or Parquet.' }],
  options: [
    {
      name: 'format',
      value: 'FORMAT',
      choices: formats,
      summary: 'The format of the file. Default: the ending of its name.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const file = input.operands['FILE'] ?? ''
    const format = (input.options['format'] as Format | undefined) ?? formatOfEnding[extname(file)]
    if (format === undefined)
      throw new UsageError(`--format is needed: the name ${file} does not show it`)
    const bytes = sizeOf(file)
    const session = Session.open(input)
    const bar = new ProgressBar(input.isJson)
    const stopping = new AbortController()
    const ignoreSignals = onStopSignals({ stop: () => stopping.abort() })
    try {
      const content = { file, bytes, type: contentTypes[format] }
      const job = await upload(session, input, { content, bar, signal: stopping.signal })
      return outcome(await followed(session, job, { bytes, bar, signal: stopping.signal }))
    } finally {
      bar.end()
      ignoreSignals()
    }
  },
}

interface Watched {
  readonly bar: ProgressBar
  readonly signal: AbortSignal
}

interface Content {
  readonly file: string
  readonly bytes: number
  readonly type: string
}

async function upload(
  session: Session,
  { operands }: Input,
  { content: { file, bytes, type }, bar, signal }: Watched & { readonly content: Content },
): Promise<Job> {
  let sent = 0
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      sent += chunk.length
      bar.show({ state: 'sending', progress: sent / bytes, rows: 0, bytes: sent })
      done(null, chunk)
    },
  })
  const path = `${streamPath(operands)}/import`
  const headers = { 'content-type': type, 'content-length': String(bytes) }
  const reading = createReadStream(file)
  reading.on('error', (error) => counted.destroy(error))
  try {
    return await session.upload<Job>({ path, headers, content: reading.pipe(counted) }, signal)
  } catch (error) {
    if (!signal.aborted) throw await refusalOf(session, streamPath(operands), error)
    throw new CommandError('interrupted', 'cancelled: nothing was imported', { cause: error })
  } finally {
    reading.destroy()
  }
}

/**
 * Why an upload has failed. A service that refuses a file closes the connection while it is being sent,
 * and its answer may be lost with that: what is wrong with the stream it says once more.
 */
async function refusalOf(session: Session, stream: string, error: unknown): Promise<unknown> {
  if (!(error instanceof CommandError) || error.code !== 'service_unreachable') return error
  try {
    await session.call({ method: 'GET', path: stream })
    return error
  } catch (reason) {
    const isMissing = reason instanceof CommandError && reason.code === 'not_found'
    return isMissing ? reason : error
  }
}

/**
 * Resolves when the service is done with the file.
 *
 * @throws CommandError `import_failed`; `interrupted` once the signal has ended it
 */
async function followed(
  session: Session,
  { importId }: Job,
  { bytes, bar, signal }: Watched & { readonly bytes: number },
): Promise<Job> {
  const path = `/imports/${importId}`
  for (;;) {
    const job = await session.call<Job>({ method: 'GET', path })
    const { state, progress, accepted, refused, failure } = job
    bar.show({ state, progress, rows: accepted + refused, bytes })
    if (state === 'completed') return job
    if (state === 'failed' || state === 'cancelled') {
      throw new CommandError('import_failed', failure?.message ?? 'it was cancelled')
    }
    if (signal.aborted) {
      await session.call({ method: 'POST', path: `${path}/cancel` })
      throw new CommandError('interrupted', `cancelled after ${accepted} readings`, {
        remedy:
          'Run the same command again: it sends the file from its beginning, and nothing is stored twice.',
      })
    }
    await sleep(askMs, undefined, { signal }).catch(() => undefined)
  }
}

function outcome({ importId, accepted, refused, duplicates, refusals }: Job): Outcome {
  const counted = `${accepted} readings imported, ${duplicates} of them duplicates, ${refused} refused`
  const first = refusals.map(({ row, message }) => `row ${row}: ${message}`).slice(0, 10)
  return {
    json: { importId, accepted, refused, duplicates, refusals },
    text: [counted, ...first].join('\n'),
    isFailure: refused > 0 && accepted === 0,
  }
}

/** @throws CommandError `no_file` */
function sizeOf(file: string): number {
  try {
    return statSync(file).size
  } catch (error) {
    throw new CommandError('no_file', messageOf(error), { cause: error })
  }
}
