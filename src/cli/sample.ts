import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { extname } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { CommandError, type Input, type Option } from './command.ts'
import { unreadable } from './json-file.ts'

/** A message of a device is shorter, and a longer sample says nothing more. */
const sampleBytesMax = 1024 * 1024

const formats = ['message', 'ndjson', 'csv'] as const

export type SampleFormat = (typeof formats)[number]

/** What a device has sent, or would send. */
export interface Sample {
  readonly bytes: Buffer
  /** As UTF-8; undefined where it is binary. */
  readonly text: string | undefined
  /** The path that was typed, where it came out of a file. */
  readonly file: string | undefined
  readonly format: SampleFormat
}

export const sampleOptions: readonly Option[] = [
  {
    name: 'sample',
    value: 'SAMPLE',
    summary:
      'What the device sends: JSON as it is, or the name of a file. Default: standard input.',
  },
  {
    name: 'format',
    value: 'FORMAT',
    choices: formats,
    summary:
      'csv has names in its first line. Default: what the file ends with, or the lines look like.',
  },
]

const formatOfEnding: Readonly<Record<string, SampleFormat>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
}

const sampleRemedy =
  'Send a message as the device sends it: on standard input, or as --sample with JSON or the name of a file.'

/** @throws CommandError `unreadable_file`, `no_sample` */
export function readSample({ options }: Input): Sample {
  const given = options['sample'] ?? '-'
  const isTyped = /^\s*[{[]/.test(given)
  const file = isTyped || given === '-' ? undefined : given
  const read = isTyped ? Buffer.from(given) : bytesOf(given)
  if (read.length === 0) {
    throw new CommandError('no_sample', 'the sample is empty', { remedy: sampleRemedy })
  }
  const isText = isUtf8(read) && !read.includes(0)
  // What is pasted ends with a line that is not part of the message.
  const text = isText ? read.toString('utf8').replace(/\r?\n$/, '') : undefined
  return {
    bytes: text === undefined ? read : Buffer.from(text),
    text,
    file,
    format:
      (options['format'] as SampleFormat | undefined) ??
      formatOfEnding[extname(file ?? '').toLowerCase()] ??
      (file === undefined ? formatSeen(text) : 'message'),
  }
}

/** A line of names, with nothing in it that other formats of lines need. */
const namesLine = /^[^=:{}[\],]*[a-z][^=:{}[\],]*(,[^=:{}[\],]*[a-z][^=:{}[\],]*)+$/i

/** What several lines are, that were pasted: a message of a device is seldom more than one. */
function formatSeen(text = ''): SampleFormat {
  const [names = '', ...rows] = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (rows.length === 0) return 'message'
  if ([names, ...rows].every(isJsonObject)) return 'ndjson'
  const cells = names.split(',').length
  return namesLine.test(names) && rows.every((row) => row.split(',').length === cells)
    ? 'csv'
    : 'message'
}

function isJsonObject(line: string): boolean {
  return line.startsWith('{') && problemOfJson(line) === undefined
}

/** Why a text is not JSON; undefined where it is. */
export function problemOfJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function bytesOf(given: string): Buffer {
  if (given === '-' && process.stdin.isTTY) {
    process.stderr.write('Paste a message of the device, then press Enter and Ctrl-D:\n')
  }
  try {
    return given === '-' ? readFrom(0) : readFile(given)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw unreadable(given, messageOf(error))
  }
}

function readFile(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    if (fstatSync(file).isDirectory()) throw unreadable(path, 'it is a folder')
    return readFrom(file)
  } finally {
    closeSync(file)
  }
}

function readFrom(file: number): Buffer {
  // One byte more says that there is more.
  const bytes = Buffer.alloc(sampleBytesMax + 1)
  let filled = 0
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, null)
    if (read === 0) break
    filled += read
  }
  if (filled > sampleBytesMax) {
    throw new CommandError('sample_too_long', `a sample has at most ${sampleBytesMax} bytes`, {
      remedy: 'Send one message of the device, or the first lines of the file.',
    })
  }
  return Buffer.from(bytes.subarray(0, filled))
}

/** What a device would publish: of CSV the lines without the names, which the definition has. */
export function payloadOf({ bytes, text, format }: Sample): Buffer {
  if (format !== 'csv' || text === undefined) return bytes
  return Buffer.from(text.slice(text.indexOf('\n') + 1))
}
