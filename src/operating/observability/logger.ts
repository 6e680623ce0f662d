import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogSettings } from '../../core/log-settings.ts'
import type { Hide } from './hidden-addresses.ts'
import { loggedError } from './logged-error.ts'

/** Keys whose values are secrets, wherever they stand in what is logged. */
const secretKeys = [
  'apiSecret',
  'secret',
  'password',
  'token',
  'accessToken',
  'authorization',
  '["x-api-secret"]',
]

/**
 * Structured logs on standard output, without secrets. Where nobody takes them, as on a disk that is full,
 * they are lost: that is no reason to stop.
 *
 * @param hide what is not to be said of errors
 */
export function createLogger(settings: LogSettings, hide?: Hide): Logger {
  const paths = secretKeys.flatMap((key) => {
    const member = key.startsWith('[') ? key : `.${key}`
    return [key, `*${member}`, `*.*${member}`]
  })
  const { level } = settings
  const output = pino.destination({ dest: standardOutput, sync: true })
  output.on('error', () => undefined)
  const logged = (error: unknown) => loggedError(error, hide)
  const serializers = { err: logged, cause: logged }
  const options = { level, base: null, serializers, redact: { paths, censor: '[secret]' } }
  return pino(options, isForPeople(settings) ? readable(output) : output)
}

const standardOutput = 1

/** Whether what is written to standard output is read by people. */
export function isForPeople({ format }: LogSettings): boolean {
  return format === 'auto' ? isatty(standardOutput) : format === 'text'
}

/** What makes lines for people of logs: it is loaded only then. It writes at once, as nothing may be lost at the end. */
function readable(destination: DestinationStream): DestinationStream {
  const load = createRequire(import.meta.url)
  const { prettyFactory } = load('pino-pretty') as typeof import('pino-pretty')
  const { NO_COLOR: plain = '' } = process.env
  const textOf = prettyFactory({
    colorize: plain === '' && isatty(standardOutput),
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
  })
  return { write: (line) => destination.write(textOf(inOneLine(line)) ?? '') }
}

/** What a terminal would obey, take as the end of a line, or turn the direction of a text by. A stack has lines of its own, which are indented. */
const controls = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const controlsOfStacks = /[^\P{Cc}\n]|[\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** Characters of that kind that JSON leaves as they are. */
const controlsOfJson = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Members that are shown as they are, without JSON. */
const obeyed: Readonly<Record<string, RegExp>> = {
  msg: controls,
  name: controls,
  caller: controls,
  hostname: controls,
  pid: controls,
  stack: controlsOfStacks,
}

/** A record without control characters: others may have chosen its texts, and would write lines of our log. */
function inOneLine(line: string): object {
  return JSON.parse(line, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    return value.replaceAll(obeyed[key] ?? controlsOfJson, (one) => escaped(one))
  }) as object
}

function escaped(character: string): string {
  if (character === '\n') return '\\n'
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
