import { cutText } from '../../src/core/cut-text.ts'
import { spellingsOf } from '../../src/core/spellings.ts'
import type { HiddenValues } from './hidden-values.ts'

/** Characters of what the other side says that are shown. */
const shownLength = 200

/**
 * Makes a text that may be shown of what the other side says: its beginning, on one line, without
 * what a terminal would take for more than text, and without secrets, in whichever way they are
 * written.
 */
export function shown(text: string, secrets: readonly string[]): string {
  let safe = text
  for (const secret of secrets) {
    for (const written of spellingsOf(secret)) safe = safe.replaceAll(written, '********')
  }
  return cutText(safe.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim(), shownLength)
}

/** An address without its query, which may hold what nobody should see, and with the names of secrets in its path. */
export function shownAddress(url: URL, hidden: HiddenValues): string {
  return cutText(hidden.shown(url), shownLength)
}
