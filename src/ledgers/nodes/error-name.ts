/** Names of errors in protocols are words; a token is hardly ever one of letters alone. */
const name = /^[a-z_]{1,40}$/i

/** What a node calls an error, where it keeps to names: whatever else it says may show its address, which may hold a token. */
export function errorName(said: string): string {
  return name.test(said) ? said : 'without a name'
}
