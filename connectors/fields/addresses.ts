import { type Field, newField, refined } from '../../src/contracts/definitions/fields.ts'

/** Text of a URL with one of these schemes, without credentials: they have a place of their own. */
export function address(...schemes: readonly string[]): Field<string> {
  return newField(
    (value, key, problems) => {
      const url = typeof value === 'string' ? URL.parse(value) : null
      const isOne = url !== null && schemes.includes(url.protocol.slice(0, -1))
      if (!isOne || url.hostname === '') {
        problems.add(key, `must be an address such as ${schemes[0]}://host:port`)
      } else if (url.username !== '' || url.password !== '') {
        problems.add(key, 'must not hold credentials: they have a key of their own')
      }
    },
    { type: 'string', format: 'uri' },
  )
}

/** An address of which everything behind the port has a form. @param example what it looks like */
export function addressWith(
  schemes: readonly string[],
  fits: (url: URL) => boolean,
  example: string,
): Field<string> {
  return refined(address(...schemes), (value, key, problems) => {
    if (!fits(new URL(value))) problems.add(key, `must be an address such as ${example}`)
  })
}

/** Whether an address is one of a scheme, whatever case it is written in. */
export function hasScheme(endpoint: unknown, scheme: string): boolean {
  return typeof endpoint === 'string' && endpoint.toLowerCase().startsWith(`${scheme}:`)
}
