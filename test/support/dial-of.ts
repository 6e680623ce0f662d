import type { Dial } from '../../src/contracts/fetch-connector.ts'

const datagrams = () => Promise.reject(new Error('there are no datagrams here'))

/** A way out of a test's own, that has no datagrams. */
export function dialOf(dial: (...destination: Parameters<Dial>) => ReturnType<Dial>): Dial {
  return Object.assign(dial, { datagrams })
}
