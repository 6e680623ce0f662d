/** How much is logged: this and what weighs more. Names are those of pino. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export interface LogSettings {
  readonly level: LogLevel
  readonly format: LogFormat
}

export type LogFormat =
  /** `text` in a terminal, else `json`. */
  | 'auto'
  /** An object a line, for programs. */
  | 'json'
  /** Lines for people. */
  | 'text'
