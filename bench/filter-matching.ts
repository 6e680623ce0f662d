import { FilterRoom } from '../src/core/filter-room.ts'
import { FilterTree } from '../src/core/filter-tree.ts'

/** The deepest filter that is taken, and one that a device has. */
const levels = 32
const names = 'users/00000000-0000-4000-8000-000000000000'

/** How often a topic is looked up before and while it is measured, with limits and without. */
const roundsLimited = 300
const roundsUnlimited = 10

/** The longest that a message may look for those who have subscribed, in milliseconds. */
const wantedMs = 1

/**
 * What a message costs that looks for its subscribers among the filters of a user who has as many as
 * there may be: `npm run bench:filters`. With `--unlimited` among 65,536 deep wildcards.
 */
function main(): void {
  const isLimited = !process.argv.includes('--unlimited')
  const deep = `${names}${'/a'.repeat(levels - 2)}`
  const patterns = [...wildcards(isLimited ? 7 : 16)]
  report('one client, wildcards in every allowed way', deep, filtersOf(patterns, 1), isLimited)
  const many = filtersOf(patterns, 500)
  report('500 clients, each of them with all of these', deep, many, isLimited)
  const devices = Array.from({ length: 50_000 }, (_, index): Held => {
    return { filter: `${names}/devices/${index}/#`, holder: index % 10_000 }
  })
  report('10,000 clients with five devices each', `${names}/devices/777/set`, devices, isLimited)
}

interface Held {
  readonly filter: string
  readonly holder: number
}

/** Filters that all match one topic, and part as early as they can. */
function* wildcards(ways: number): Generator<string> {
  for (let way = 2 ** ways - 1; way >= 0; way--) {
    const first = Array.from({ length: ways }, (_, bit) => ((way >> bit) & 1 ? '+' : 'a'))
    yield `${names}/${first.join('/')}${'/a'.repeat(levels - 2 - ways)}`
  }
}

function* filtersOf(filters: readonly string[], holders: number): Generator<Held> {
  for (let holder = 0; holder < holders; holder++) {
    for (const filter of filters) yield { filter, holder }
    if (holder * filters.length > 65_536) return
  }
}

function report(what: string, topic: string, filters: Iterable<Held>, isLimited: boolean): void {
  const tree = new FilterTree<number>()
  const room = new FilterRoom()
  let held = 0
  for (const { filter, holder } of filters) {
    if (isLimited && !room.hasRoomFor(filter)) continue
    room.take(filter)
    tree.set(filter, holder, 1)
    held++
  }
  const rounds = isLimited ? roundsLimited : roundsUnlimited
  const found = tree.match(topic).size
  for (let round = 0; round < rounds; round++) tree.match(topic)
  const beganMs = performance.now()
  for (let round = 0; round < rounds; round++) tree.match(topic)
  const spentMs = (performance.now() - beganMs) / rounds
  const verdict = isLimited ? (spentMs < wantedMs ? 'met ' : 'MISS') : 'seen'
  if (verdict === 'MISS') process.exitCode = 1
  console.log(`${verdict} ${spentMs.toFixed(3)} ms  ${what}: ${held} filters, ${found} clients`)
}

main()
