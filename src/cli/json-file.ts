import { readFileSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import { CommandError, type Option } from './command.ts'

/** An option that names a file with the body of an operation. */
export function fileOption(operation: string, isRequired = true): Option {
  const summary = `JSON: the body of ${operation}; - reads it from standard input.`
  return { name: 'file', value: 'FILE', summary, ...(isRequired && { isRequired }) }
}

/** @throws CommandError `unreadable_file` */
export function readJsonFile(file: string): unknown {
  const text = textOf(file)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    // The message of the parser shows a part of the text, which may have a secret in it.
    const [place = ''] = / at position \d+( \(.*\))?/.exec(messageOf(error)) ?? []
    throw unreadable(file, `it is not JSON${place}`)
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw unreadable(file, messageOf(error))
  }
}

/** A file, or standard input, that cannot be read. */
export function unreadable(file: string, reason: string): CommandError {
  const name = file === '-' ? 'standard input' : file
  return new CommandError('unreadable_file', `${name} cannot be read: ${reason}`)
}
