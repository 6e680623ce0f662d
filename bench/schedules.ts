import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchRun } from '../src/contracts/fetch-connector.ts'
import type { PollConnector } from '../src/contracts/poll-connector.ts'
import { systemClock } from '../src/core/clock.ts'
import { newId, type StreamId } from '../src/core/ids.ts'
import { scheduled } from '../src/streams/sources/schedules/scheduled-source.ts'
import { Wish } from '../src/streams/sources/wish.ts'
import { dialOf } from '../test/support/dial-of.ts'
import { type Figure, printFigure } from './report.ts'

const sources = 1_000

/** The latest start that there may be, and the most of a core that sources at rest may take, in percent. */
const latestMs = 1_000
const restingPercent = 0.5

/** How late rounds of a thousand schedules begin, and what schedules at rest cost: `npm run bench:schedules`. */
export async function scheduleSpeed(seconds = 20): Promise<readonly Figure[]> {
  const each = await run('* * * * * *', seconds)
  const resting = await run('0 0 1 1 *', seconds)
  const nobody = await run('0 0 1 1 *', seconds, 0)
  const sorted = each.lateMs.toSorted((one, other) => one - other)
  const latest = sorted.at(-1) ?? Number.POSITIVE_INFINITY
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
  const expected = sources * (seconds - 1)
  const restPercent = resting.percent - nobody.percent
  return [
    {
      name: `${sources.toLocaleString('en-US')} sources that are asked each second: latest round of ${sorted.length.toLocaleString('en-US')}`,
      measured: `${latest.toFixed(1)} ms late (p99 ${p99.toFixed(1)} ms), ${each.percent.toFixed(1)} % of a core`,
      target: `none more than ${latestMs} ms late`,
      isMet: latest <= latestMs && sorted.length >= expected,
    },
    {
      name: `${sources.toLocaleString('en-US')} sources that wait for their time: processor time`,
      measured: `${resting.percent.toFixed(2)} % of a core (a process without any: ${nobody.percent.toFixed(2)} %)`,
      target: 'nothing that can be measured',
      isMet: restPercent < restingPercent,
    },
  ]
}

/** Runs so many sources that have nothing to give. */
async function run(schedule: string, seconds: number, count = sources) {
  const lateMs: number[] = []
  const end = new AbortController()
  const connector = scheduled(nothingNew)
  const runs = Array.from({ length: count }, async () => {
    const definition = { streamId: newId<StreamId>(), source: { schedule } }
    await connector.open(definition).run(quietRun(lateMs, end.signal))
  })
  // The zone of the schedules is read, and code compiled.
  await sleep(1_500)
  lateMs.length = 0
  const before = process.cpuUsage()
  const beganMs = performance.now()
  await sleep(seconds * 1_000)
  const { user, system } = process.cpuUsage(before)
  const percent = (user + system) / 10 / (performance.now() - beganMs)
  end.abort()
  await Promise.all(runs)
  return { lateMs, percent }
}

const nothingNew: PollConnector = {
  takes: () => true,
  destinationOf: () => undefined,
  open: () => ({
    identity: 'nothing',
    async *poll() {
      yield { messages: [], position: undefined }
    },
  }),
}

function quietRun(lateMs: number[], signal: AbortSignal): FetchRun {
  return {
    accept: async () => [],
    position: undefined,
    onRunning: () => undefined,
    onHeldUp: () => undefined,
    onWaiting: () => undefined,
    onRound: ({ startedAtUs, dueAtUs }) => void lateMs.push((startedAtUs - dueAtUs) / 1_000),
    wish: new Wish(),
    nowUs: () => systemClock.nowUs(),
    dial: dialOf(async () => {
      throw new Error('there is nobody to connect to')
    }),
    signal,
  }
}

if (import.meta.main) for (const figure of await scheduleSpeed()) printFigure(figure)
