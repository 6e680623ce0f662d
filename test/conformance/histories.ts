import type { SeededRandom } from '../support/seeded-random.ts'

/** What one of three clients does next; topics and filters begin below a root of the history. */
export type Step =
  | { readonly does: 'subscribe'; readonly client: number; readonly filters: readonly Wanted[] }
  | { readonly does: 'unsubscribe'; readonly client: number; readonly filter: string }
  /** Somebody else publishes; the client is no matter. */
  | {
      readonly does: 'publish'
      readonly client: number
      readonly topic: string
      readonly payload: string
      readonly qos: number
      readonly retain: boolean
    }
  /** Ends the connection, and opens it again after some steps of others. */
  | { readonly does: 'leave' | 'return'; readonly client: number }

export type Wanted = readonly [filter: string, qos: number]

/** The first one has a session of each connection, the others have one for good. */
export const clean: readonly boolean[] = [true, false, false]

const names = ['a', 'b', 'a/a', 'a/b', 'b/a', 'a//b', 'a/', 'b/a/b']
const filters = [...names, '#', '+', '+/a', 'a/+', 'a/#', 'b/#', '+/+', '+/a/#', '+/+/b', 'a/+/b']

/** A history that the same random numbers give again. */
export function history(random: SeededRandom, length: number): Step[] {
  const isHere = clean.map(() => true)
  const steps: Step[] = []
  for (let index = 0; index < length; index++) {
    const client = random.integer(0, clean.length - 1)
    if (!isHere[client]) {
      isHere[client] = true
      steps.push({ does: 'return', client })
    } else steps.push(stepOf(random, client, index))
    if (steps.at(-1)?.does === 'leave') isHere[client] = false
  }
  return steps
}

function stepOf(random: SeededRandom, client: number, index: number): Step {
  const any = (choices: readonly string[]) => choices[random.integer(0, choices.length - 1)] ?? ''
  const qos = random.integer(0, 2)
  const kind = random.next()
  if (kind < 0.08) return { does: 'leave', client }
  if (kind < 0.15) return { does: 'unsubscribe', client, filter: any(filters) }
  if (kind < 0.4) {
    const count = random.integer(1, 3)
    const wanted = Array.from({ length: count }, (): Wanted => [any(filters), random.integer(0, 2)])
    // A filter that is there twice in one packet is a matter of its own.
    return { does: 'subscribe', client, filters: [...new Map(wanted)] }
  }
  const retain = random.chance(0.4)
  const payload = retain && random.chance(0.3) ? '' : `message ${index}`
  return { does: 'publish', client, topic: any(names), payload, qos, retain }
}
