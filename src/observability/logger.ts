import { type Logger, pino } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

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

/** Structured logs on standard output, without secrets. */
export function createLogger(level: LogLevel): Logger {
  const paths = secretKeys.flatMap((key) => {
    const member = key.startsWith('[') ? key : `.${key}`
    return [key, `*${member}`, `*.*${member}`]
  })
  return pino({ level, base: null, redact: { paths, censor: '[secret]' } })
}
