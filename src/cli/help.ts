import type { Command, Option } from './command.ts'
import { commonOptions } from './parse-input.ts'

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
      ...all.map((option): readonly [string, string] => [flagOf(option), meaningOf(option)]),
    ]),
    '',
    exitCodesText,
    ...(command.exitCodes === undefined ? [] : [command.exitCodes]),
  ].join('\n')
}

function callOf({ name, operands, options }: Command): string {
  const needed = options.filter(({ isRequired }) => isRequired).map(flagOf)
  return [name, ...operands.map((operand) => operand.name), ...needed].join(' ')
}

function flagOf({ name, value }: Option): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`
}

function meaningOf({ summary, choices }: Option): string {
  return choices ? `${summary} One of: ${choices.join(', ')}.` : summary
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
