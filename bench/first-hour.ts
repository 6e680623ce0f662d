import { readFileSync } from 'node:fs'
import { FreshClone } from '../test/support/fresh-clone.ts'
import { pageBlocks } from '../test/support/page-blocks.ts'
import { commandsOf } from '../test/support/page-commands.ts'
import { PageRun } from '../test/support/page-run.ts'
import { type Person, persons } from '../test/support/persons.ts'
import { type Figure, measureAll } from './report.ts'

/*
 * `npm run bench:first-hour`: from a fresh clone to a first reading and a first alert, by the page of each person. Each block
 * of the page is run as soon as the one before has ended, and a person needs some time to copy it: both are counted.
 */

/** What copying a block of commands and reading its answer takes. */
const personMs = 6_000

const wanted = { readingS: 60, alertS: 180 } as const

interface Moment {
  /** Since `npm ci` has ended, with what a person needs for the blocks so far. */
  readonly seconds: number
  readonly commands: number
  readonly blocks: number
}

async function main(): Promise<void> {
  const measurements = persons.map(
    (person) =>
      [person.page.replace(/^docs\/|\.md$/g, ''), async () => await hourOf(person)] as const,
  )
  await measureAll(Object.fromEntries(measurements), process.argv.slice(2))
}

async function hourOf(person: Person): Promise<readonly Figure[]> {
  using clone = new FreshClone()
  const { code, output } = await clone.npm('ci')
  if (code !== 0) throw new Error(output)
  const startMs = performance.now()
  const reader = await PageRun.inClone(person, clone)
  try {
    const credentials = readFileSync(clone.path('data/admin.json'), 'utf8')
    const found: { reading?: Moment; alert?: Moment } = {}
    let [commands, blocks] = [0, 0]
    for (const block of pageBlocks(person.page)) {
      await reader.run(block)
      commands += commandsOf([block])
      blocks++
      const seconds = (performance.now() - startMs + blocks * personMs) / 1_000
      // A page may have the reader stop the service.
      const { hasReading, hasAlert } =
        block.label === 'stop' ? nothing : await seenAt(reader.address, credentials)
      if (hasReading) found.reading ??= { seconds, commands, blocks }
      if (hasAlert) found.alert ??= { seconds, commands, blocks }
    }
    return [
      figureOf(`${person.name}: first reading`, found.reading, wanted.readingS),
      ...(person.hasAlert
        ? [figureOf(`${person.name}: first alert`, found.alert, wanted.alertS)]
        : []),
    ]
  } finally {
    await reader.end()
  }
}

const nothing = { hasReading: false, hasAlert: false }

/** What the service has by now. */
async function seenAt(
  address: string,
  credentials: string,
): Promise<{ readonly hasReading: boolean; readonly hasAlert: boolean }> {
  const metrics = await (await fetch(`${address}/metrics`)).text()
  const json = { 'content-type': 'application/json' }
  const login = { method: 'POST', headers: json, body: credentials }
  const answer = await fetch(`${address}/auth/token`, login)
  const { accessToken } = (await answer.json()) as { readonly accessToken: string }
  const alerts = await fetch(`${address}/alerts`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })
  return {
    hasReading: /^streamvault_readings_received [1-9]/m.test(metrics),
    hasAlert: ((await alerts.json()) as readonly unknown[]).length > 0,
  }
}

function figureOf(name: string, moment: Moment | undefined, secondsMax: number): Figure {
  const { seconds = Infinity, commands = 0, blocks = 0 } = moment ?? {}
  return {
    name,
    measured: `${seconds.toFixed(1)} s after npm ci, with ${personMs / 1_000} s for each of ${blocks} blocks (${commands} commands)`,
    target: `within ${secondsMax} s`,
    isMet: seconds <= secondsMax,
  }
}

await main()
