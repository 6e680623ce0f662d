import { type Logger, pino } from 'pino'
import type { LogLevel } from '../../core/log-level.ts'
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
export function createLogger(level: LogLevel, hide?: Hide): Logger {
  const paths = secretKeys.flatMap((key) => {
    const member = key.startsWith('[') ? key : `.${key}`
    return [key, `*${member}`, `*.*${member}`]
  })
  const output = pino.destination({ dest: 1, sync: true })
  output.on('error', () => undefined)
  const logged = (error: unknown) => loggedError(error, hide)
  const serializers = { err: logged, cause: logged }
  return pino({ level, base: null, serializers, redact: { paths, censor: '[secret]' } }, output)
}
