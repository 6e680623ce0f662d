import { secretMark } from '../../contracts/definitions/secret-mark.ts'
import { cutText } from '../../core/cut-text.ts'
import { spellingsOf } from '../../core/spellings.ts'

/** Characters of a message that are shown. */
const shownLength = 500

/**
 * A message of the other side, or of a library, that may be shown: whoever is told a secret may repeat it, written
 * in another way.
 */
export function withoutSecretsOf(secrets: readonly string[], text: string): string {
  let shown = text
  for (const secret of secrets) {
    for (const written of spellingsOf(secret)) shown = shown.replaceAll(written, secretMark)
  }
  return cutText(shown, shownLength)
}
