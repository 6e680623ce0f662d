import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '../core/errors.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Input, type Outcome, UsageError } from './command.ts'
import { ExportJob } from './export-job.ts'
import { interruptible } from './interruptible.ts'
import { ProgressBar } from './progress-bar.ts'
import { Session } from './session.ts'
import { onStopSignals } from './stop-signals.ts'
import { streamOperand, streamPath } from './streams.ts'

const formats = ['csv', 'ndjson', 'parquet'] as const

type Format = (typeof formats)[number]

const contentTypes: Readonly<Record<Format, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/x-ndjson',
}

/** Column types of DuckDB for the fields of a stream, as far as they are not VARCHAR. */
const columnTypes: Readonly<Record<string, string>> = {
  number: 'DOUBLE',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
  datetime: 'TIMESTAMPTZ',
  object: 'JSON',
  array: 'JSON',
}

/** Writes the stored readings of a stream into a file. */
export const exportReadings: Command = {
  name: 'export',
  summary: 'Write the readings of a data stream into a file, or into the files of a folder.',
  description:
    'The file appears under its name when it is complete. Parquet has a column for each field of the ' +
    'definition, and one for the time; fields that the definition does not have are in the column extra. ' +
    'With --output the service writes files in the background, which are downloaded into the folder; ' +
    'an interrupted export goes on when the same command is run again.',
  operands: [streamOperand],
  options: [
    {
      name: 'format',
      value: 'FORMAT',
      choices: formats,
      isRequired: true,
      summary: 'The format of the file.',
    },
    {
      name: 'out',
      value: 'FILE',
      summary: 'One file, written as the readings come: for short ones.',
    },
    { name: 'output', value: 'FOLDER', summary: 'Files in a folder, by a job of the service.' },
    { name: 'start', value: 'TIME', summary: 'RFC 3339; included. Default: the first reading.' },
    { name: 'end', value: 'TIME', summary: 'RFC 3339; excluded. Default: the last reading.' },
    ...serviceOptions,
  ],
  async run(input) {
    const { options } = input
    const { out: file, output: folder } = options
    if ((file === undefined) === (folder === undefined)) {
      throw new UsageError('either --out FILE or --output FOLDER is needed')
    }
    const format = options['format'] as Format
    const session = Session.open(input)
    if (file === undefined) return await intoFolder(session, input, folder ?? '')
    await interruptible(
      (stopped) => intoFile(session, input, { format, file, stopped }),
      () => ({
        message: `cancelled: ${file} was not written`,
        remedy: 'Run the same command again; with --output FOLDER it goes on where it was.',
      }),
    )
    return { json: { file, format }, text: `wrote ${file}` }
  },
}

/** Lets the service write files, and brings them here. Ctrl-C cancels it for now. */
async function intoFolder(session: Session, input: Input, folder: string): Promise<Outcome> {
  const { operands, options, isJson } = input
  const { start, end, format } = options
  const streamIds = [operands['STREAM']]
  const request = { streamIds, format, ...(start && { start }), ...(end && { end }) }
  const bar = new ProgressBar(isJson)
  const stopping = new AbortController()
  const ignoreSignals = onStopSignals({ stop: () => stopping.abort() })
  try {
    const job = new ExportJob({
      session,
      folder,
      request,
      onProgress: (progress) => bar.show(progress),
    })
    const { rows, files } = await job.run(stopping.signal)
    bar.end()
    const names = files.map(({ name }) => name)
    return {
      json: { folder, format, rows, files: names },
      text: `wrote ${rows} readings into ${names.length} files in ${folder}`,
    }
  } catch (error) {
    bar.end()
    throw error
  } finally {
    ignoreSignals()
  }
}

interface Download {
  readonly format: Format
  readonly file: string
  readonly stopped: AbortSignal
}

/** @throws CommandError `export_failed`; nothing is left of it then */
async function intoFile(session: Session, input: Input, wish: Download): Promise<void> {
  const { format, file } = wish
  const part = `${file}.part`
  try {
    await download(session, input, { ...wish, file: part })
    const stream = streamPath(input.operands)
    if (format === 'parquet') await toParquet(session, stream, { part, file })
    else renameSync(part, file)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('export_failed', `${file} is not complete: ${messageOf(error)}`, {
      cause: error,
    })
  } finally {
    rmSync(part, { force: true })
  }
}

async function download(
  session: Session,
  { operands, options }: Input,
  { format, file, stopped }: Download,
): Promise<void> {
  const query = new URLSearchParams()
  for (const name of ['start', 'end']) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  const request = {
    method: 'GET',
    path: `${streamPath(operands)}/data?${query.toString()}`,
    headers: { accept: contentTypes[format] },
  } as const
  const incoming = await session.open(request, stopped)
  // An answer that breaks off is an error here, and not the end of the file.
  await pipeline(incoming, createWriteStream(file), { signal: stopped })
}

/** Lets DuckDB read the lines and write them in columns, in this process. */
async function toParquet(
  session: Session,
  path: string,
  { part, file }: { readonly part: string; readonly file: string },
): Promise<void> {
  interface Definition {
    readonly schema: Readonly<Record<string, { readonly type: string }>>
  }
  const { schema } = await session.call<Definition>({ method: 'GET', path })
  const columns = Object.entries(schema).map(([name, { type }]) => [name, columnTypes[type]])
  const all = [['timestamp', 'TIMESTAMPTZ'], ...columns, ['extra', 'JSON']]
  const typed = all.map(([name, type = 'VARCHAR']) => `${text(name)}: ${text(type)}`)
  const { openDuckDb } = await import('../core/duckdb-instance.ts')
  const instance = await openDuckDb(':memory:')
  const connection = await instance.connect()
  try {
    const lines = `read_json(${text(part)}, format = 'newline_delimited', columns = {${typed.join(', ')}})`
    await connection.run(`COPY (SELECT * FROM ${lines}) TO ${text(file)} (FORMAT parquet)`)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** A literal of SQL. */
function text(value = ''): string {
  return `'${value.replaceAll("'", "''")}'`
}
