/** How much is logged: this and what weighs more. Names are those of pino. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
