import type { Command, Option } from './command.ts'
import { commonOptions } from './parse-input.ts'

const wrappedWidthMin = 30

const exitCodesText = 'Exit codes: 0 done, 1 failed, 2 wrong usage.'

/** What `streamvault --help` prints, or that of a group such as `keys`. */
export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command): readonly [string, string] => [
    callOf(command),
    command.summary,
  ])
  return [
    'Usage: streamvault COMMAND [OPTIONS]',
    '',
    ...columns(rows),
    '',
    'Each command has --help and --json; --version says which version this is. Settings are read from the environment and from .env.',
    exitCodesText,
  ].join('\n')
}

export function helpOf(command: Command): string {
  const { summary, description, operands } = command
  const all = [...command.options, ...commonOptions]
  return [
    `Usage: streamvault ${callOf(command)} [OPTIONS]`,
    '',
    summary,
    ...(description === undefined ? [] : ['', description]),
    '',
    ...columns([
      ...operands.map(({ name, summary: meaning }): readonly [string, string] => [name, meaning]),
      ...rowsOf(all),
    ]),
    '',
    exitCodesText,
    ...(command.exitCodes === undefined ? [] : [command.exitCodes]),
  ].join('\n')
}

/** Options with their meaning, a line each or more. */
export function optionLines(options: readonly Option[]): string[] {
  return columns(rowsOf(options))
}

function rowsOf(options: readonly Option[]): (readonly [string, string])[] {
  return options.map((option) => [flagOf(option), meaningOf(option)])
}

/** How a command is called, with all that it needs. */
export function callOf({ name, operands, options }: Command): string {
  const needed = options.filter(({ isRequired }) => isRequired).map(flagOf)
  const shown = operands.map((one) => (one.isOptional ? `[${one.name}]` : one.name))
  return [name, ...shown, ...needed].join(' ')
}

export function flagOf({ name, value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`
}

function meaningOf({ summary, choices }: Option): string {
  return choices ? `${summary} One of: ${choices.join(', ')}.` : summary
}

/** Two columns, the second one wrapped where it would not fit into the terminal. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  const room = process.stdout.isTTY ? process.stdout.columns - width - 4 : Number.POSITIVE_INFINITY
  return rows.flatMap(([left, right]) => {
    // Beside a narrow column a sentence is harder to read than over the edge.
    const lines = room < wrappedWidthMin ? [right] : wrapped(right, room)
    return lines.map((line, index) => `  ${(index === 0 ? left : '').padEnd(width)}  ${line}`)
  })
}

function wrapped(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
