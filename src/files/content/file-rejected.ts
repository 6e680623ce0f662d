import { cutText } from '../../core/cut-text.ts'
import { DomainError } from '../../core/errors.ts'

/** Characters of a message: names in archives may have a thousand, and libraries quote them. */
const messageLengthMax = 300

/** Characters of a name that a message quotes. */
const nameLengthMax = 100

/**
 * What was uploaded is not what it has to be. The message is for whoever has uploaded it: it says why, and
 * has no characters that a terminal or a log would obey.
 *
 * @param entry of an archive, as far as its name can be read
 */
export function fileRejected(reason: string, entry?: string): DomainError {
  const named =
    entry === undefined ? reason : `entry ${quoted(cutText(entry, nameLengthMax))}: ${reason}`
  return new DomainError('file_rejected', cutText(printable(named), messageLengthMax))
}

function quoted(name: string): string {
  return `'${name}'`
}

/** Controls, directions of writing and halves of surrogate pairs as U+FFFD. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
