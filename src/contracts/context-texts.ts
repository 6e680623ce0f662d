/** Texts that come beside a message, its headers or the parameters of its address: more are left out. */
const textsMax = 100

/** Characters of their names and values together: as much as our server takes of headers. */
const lengthMax = 16 * 1024

/** What has one of these in its name says who is asking, or proves it. */
const credentialWords =
  /authorization|cookie|token|secret|passw|passphrase|api[-_.]?key|access[-_.]?key|private[-_.]?key|signature|credential/

/** Names that are those of credentials as a whole, and part of others that are none. */
const credentialNames: readonly string[] = ['auth', 'pass', 'pwd', 'sig', 'jwt', 'sid', 'x-auth']

/** Whether a header or a parameter of this name may hold a secret: nobody gets to see what it says. */
export function isCredential(name: string): boolean {
  const folded = name.toLowerCase()
  return credentialNames.includes(folded) || credentialWords.test(folded)
}

/**
 * Texts that a mapping may read, without credentials. Of a name that comes more than once it has all values, with a
 * comma between them (RFC 9110, section 5.3).
 *
 * @param given names as they are to be asked for: those of headers in lower case
 */
export function contextTexts(
  given: Iterable<readonly [string, string | readonly string[] | undefined]>,
): Readonly<Record<string, string>> {
  const texts = new Map<string, string>()
  let length = 0
  for (const [name, value] of given) {
    if (value === undefined || isCredential(name)) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    length += name.length + text.length
    if (length > lengthMax || texts.size >= textsMax) break
    const before = texts.get(name)
    texts.set(name, before === undefined ? text : `${before}, ${text}`)
  }
  return Object.fromEntries(texts)
}
