/** The failure of a connection to a name that leads nowhere, with the code that Node has for it. */
export function unresolved(host: string): Error {
  return Object.assign(new Error(`${host} does not resolve`), { code: 'ENOTFOUND' })
}
