/** An option of a command, without the dashes. */
export interface Option {
  readonly name: string
  /** The word that stands for the value in the help; undefined: the option takes none. */
  readonly value?: string
  /** The only values that there are. */
  readonly choices?: readonly string[]
  readonly isRequired?: boolean
  readonly summary: string
}

/** A value that stands without an option. */
export interface Operand {
  /** In capitals, as the help shows it. */
  readonly name: string
  /** Only the last ones can be left out. */
  readonly isOptional?: boolean
  readonly summary: string
}

/** What was typed, checked against what the command declares. */
export interface Input {
  /** By the names of the operands; empty: not given. */
  readonly operands: Readonly<Record<string, string>>
  /** By the names of the options; absent: not given. */
  readonly options: Readonly<Record<string, string>>
  readonly isJson: boolean
}

/** What a command has found out or done. */
export interface Outcome {
  /** The value that `--json` prints; undefined: everything was printed already. */
  readonly json: unknown
  /** The text that is printed otherwise; empty: everything was printed already. */
  readonly text: string
  /** A remark beside the result, which goes to standard error. */
  readonly notice?: string
  /** The command worked, and has found something that is not as it should be: exit code 1. */
  readonly isFailure?: boolean
  /** Where it is none of those that all commands have. */
  readonly exitCode?: number
}

/** One sub-command of `streamvault`. */
export interface Command {
  /** One to three words, such as `keys create`. */
  readonly name: string
  readonly summary: string
  /** Sentences for its own help. */
  readonly description?: string
  readonly operands: readonly Operand[]
  readonly options: readonly Option[]
  /** A sentence about exit codes, where it has more than others. */
  readonly exitCodes?: string
  /** @throws UsageError, CommandError, ConfigError; anything else fails the command as well */
  run(input: Input): Promise<Outcome>
}

/** Exit codes of every command. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

/** The command was not called as it must be. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface CommandErrorOptions extends ErrorOptions {
  readonly remedy?: string | undefined
}

/** The command could not do what it was asked for, and the caller can do something about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** A stable name for programs: one of the service's error codes, or one of the command's own. */
  readonly code: string
  /** What the caller can do about it, as a sentence; undefined: the message says it. */
  readonly remedy: string | undefined

  constructor(code: string, message: string, options: CommandErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.remedy = options.remedy
  }
}
