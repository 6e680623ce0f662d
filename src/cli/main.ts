import { existsSync } from 'node:fs'
import { ConfigError } from '../config/config.ts'
import { productVersion } from '../config/product-version.ts'
import { changesBetween } from '../core/changes-between.ts'
import { messageOf } from '../core/errors.ts'
import { type Command, CommandError, exitCodes, UsageError } from './command.ts'
import { helpOf, overview } from './help.ts'
import { parseInput } from './parse-input.ts'
import { serve } from './serve.ts'
import { shownLines, shownText } from './shown-text.ts'

/** Runs the command that the words name, and sets the exit code of the process. */
export async function main(words: readonly string[]): Promise<void> {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env')
    if (words[0] === '--version') return print(productVersion())
    const commands = await commandsFor(words)
    const found = commandOf(words, commands)
    if (wantsHelp(words)) print(found ? helpOf(found.command) : overview(groupOf(words, commands)))
    else if (found) await run(found.command, found.rest)
    else throw unknownCommand(words, commands)
  } catch (error) {
    fail(error, beforeTerminator(words).includes('--json'))
  }
}

async function run(command: Command, rest: readonly string[]): Promise<void> {
  const input = parseInput(command, rest)
  const outcome = await command.run(input)
  if (outcome.json !== undefined && input.isJson) print(JSON.stringify(outcome.json, null, 2))
  if (outcome.text !== '' && !input.isJson) print(outcome.text)
  if (outcome.notice !== undefined && !input.isJson) warn(outcome.notice)
  if (outcome.isFailure) process.exitCode = exitCodes.failed
  if (outcome.exitCode !== undefined) process.exitCode = outcome.exitCode
}

/** The service needs nothing of what is loaded for the other commands. */
async function commandsFor(words: readonly string[]): Promise<readonly Command[]> {
  return words[0] === serve.name ? [serve] : (await import('./commands.ts')).commands
}

/** The command with the longest name that the words begin with. */
function commandOf(
  words: readonly string[],
  commands: readonly Command[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  for (const length of [3, 2, 1]) {
    const name = words.slice(0, length).join(' ')
    const command = commands.find((one) => one.name === name)
    if (command) return { command, rest: words.slice(length) }
  }
  return undefined
}

/** The commands whose name begins with the first word, or all when that is none. */
function groupOf([first]: readonly string[], commands: readonly Command[]): readonly Command[] {
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  return group.length > 0 ? group : commands
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const names = groupOf(words, commands).map(({ name }) => name)
  const typed = words.filter((word) => !word.startsWith('-'))
  const [first] = typed
  const known = 'streamvault --help shows all commands'
  if (first === undefined) return new UsageError(`a command is needed: ${known}`)
  const meant = nearestOf(typed, commands)
  if (meant !== undefined) {
    return new UsageError(`there is no command ${typed.join(' ')}: did you mean ${meant}?`)
  }
  const group = nearestGroup(first, commands)
  if (group !== undefined) {
    const inGroup = groupOf([group], commands).map(({ name }) => name)
    return new UsageError(
      `there is no command ${first}: did you mean ${group}? The commands are ${inGroup.join(', ')}`,
    )
  }
  if (names.length < commands.length) {
    return new UsageError(`${first} needs more: the commands are ${names.join(', ')}`)
  }
  return new UsageError(`there is no command ${first}: ${known}`)
}

/** The command whose name needs the fewest changes to be what the words begin with, if these are few. */
function nearestOf(words: readonly string[], commands: readonly Command[]): string | undefined {
  return nearestName(
    commands.map(({ name }) => ({
      name,
      typed: words.slice(0, name.split(' ').length).join(' '),
    })),
  )
}

/** The first word of commands that a word was probably meant to be; undefined where it is one. */
function nearestGroup(typed: string, commands: readonly Command[]): string | undefined {
  const words = commands.map(({ name }) => name.split(' '))
  const names = words.filter(({ length }) => length > 1).map(([name = '']) => name)
  if (names.includes(typed)) return undefined
  return nearestName(names.map((name) => ({ name, typed })))
}

function nearestName(
  pairs: readonly { readonly name: string; readonly typed: string }[],
): string | undefined {
  const [nearest] = pairs
    .map(({ name, typed }) => ({ name, changes: changesBetween(typed.toLowerCase(), name) }))
    .filter(({ name, changes }) => changes <= Math.max(1, name.length / 3))
    .toSorted((one, other) => one.changes - other.changes)
  return nearest?.name
}

function wantsHelp(words: readonly string[]): boolean {
  return beforeTerminator(words).includes('--help') || (words[0] === 'help' && words.length === 1)
}

/** What stands behind `--` is no option. */
function beforeTerminator(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--')
  return end === -1 ? words : words.slice(0, end)
}

function fail(error: unknown, isJson: boolean): void {
  process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  const message = messageOf(error)
  const remedy = error instanceof CommandError ? error.remedy : undefined
  if (isJson) return warn(JSON.stringify({ error: codeOf(error), message, remedy }))
  // Every problem of the settings has a line of its own, as at the start of the service.
  if (error instanceof ConfigError) return warn(message)
  warn(`streamvault: ${shownText(message.replaceAll('\n', ' '))}`)
  if (remedy !== undefined) warn(`What to do: ${shownText(remedy.replaceAll('\n', ' '))}`)
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return 'wrong_usage'
  if (error instanceof ConfigError) return 'invalid_settings'
  return error instanceof CommandError ? error.code : 'failed'
}

function print(text: string): void {
  process.stdout.write(`${shownLines(text)}\n`)
}

function warn(text: string): void {
  process.stderr.write(`${shownLines(text)}\n`)
}
