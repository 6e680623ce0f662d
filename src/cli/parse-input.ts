import { parseArgs } from 'node:util'
import { meantBy } from '../core/suggestions.ts'
import { type Command, type Input, type Option, UsageError } from './command.ts'

/** Options that every command has. */
export const commonOptions: readonly Option[] = [
  { name: 'json', summary: 'Print JSON, also for errors (on standard error).' },
  { name: 'help', summary: 'Print this help.' },
]

/** Names under which secrets are offered elsewhere: here they would show in the list of processes. */
const secretNames = ['key', 'secret', 'password', 'token', 'api-key', 'api-secret']

/**
 * What was typed after the name of a command.
 *
 * @throws UsageError that names what is wrong, but never shows a value that may be a secret
 */
export function parseInput({ operands, options }: Command, words: readonly string[]): Input {
  const known = new Map([...commonOptions, ...options].map((option) => [option.name, option]))
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      [...known.values()].map(({ name, value }) => [
        name,
        { type: value === undefined ? 'boolean' : 'string' } as const,
      ]),
    ),
    strict: false,
    tokens: true,
  })
  const given: Record<string, string> = {}
  const values: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') values.push(token.value)
    if (token.kind !== 'option') continue
    const option = known.get(token.name)
    if (!option) throw unknownOption(token.rawName, token.name, [...known.keys()])
    if (given[option.name] !== undefined) throw new UsageError(`--${option.name} was given twice`)
    given[option.name] = valueOf(option, token)
  }
  const missing = options.find(({ name, isRequired }) => isRequired && given[name] === undefined)
  if (missing) throw new UsageError(`--${missing.name} ${missing.value} is needed`)
  return {
    operands: named(operands, values),
    options: given,
    isJson: given['json'] !== undefined,
  }
}

function unknownOption(rawName: string, name: string, known: readonly string[]): UsageError {
  if (!secretNames.includes(name)) {
    const meant = meantBy(name, known)
    const remedy = meant === undefined ? '--help shows all options' : `did you mean --${meant}?`
    return new UsageError(`there is no option ${rawName}: ${remedy}`)
  }
  return new UsageError(
    `there is no option ${rawName}: others could read it in the list of processes; ` +
      'set STREAMVAULT_ADMIN_KEY and STREAMVAULT_ADMIN_SECRET in the environment',
  )
}

interface OptionToken {
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function valueOf({ name, value, choices }: Option, token: OptionToken): string {
  if (value === undefined) {
    if (token.value !== undefined) throw new UsageError(`--${name} takes no value`)
    return ''
  }
  const isForgotten = isLikeAnOption(token.value) && token.inlineValue !== true
  if (token.value === undefined || token.value === '' || isForgotten) {
    throw new UsageError(`--${name} needs a value: ${value}`)
  }
  if (choices && !choices.includes(token.value)) {
    throw new UsageError(`--${name} must be ${choices.join(' or ')}, not '${token.value}'`)
  }
  return token.value
}

/** A number below zero, a time before now (`-24h`) and `-` for standard input are values. */
function isLikeAnOption(text = ''): boolean {
  return /^-[^\d.]/.test(text)
}

function named(operands: Command['operands'], values: readonly string[]): Record<string, string> {
  const missing = operands[values.length]
  if (missing && !missing.isOptional) throw new UsageError(`${missing.name} is needed`)
  if (values.length > operands.length) {
    const allowed = operands.length === 0 ? 'nothing' : operands.map(({ name }) => name).join(' ')
    throw new UsageError(`there is more than ${allowed} before or between the options`)
  }
  return Object.fromEntries(operands.map(({ name }, index) => [name, values[index] ?? '']))
}
