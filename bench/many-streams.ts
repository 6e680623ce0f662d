import { parseArgs } from 'node:util'
import { loadFleet, makeFleet, medianOf, warmupOf } from './fleet.ts'
import { type Figure, printFigure } from './report.ts'
import { startStreamvault } from './servers.ts'

const shapes = 100

/** What the streams of each tenth shape do with their readings. */
const transform = [
  { scale: { field: 'temperature', factor: 1.8, offset: 32 } },
  { derive: { field: 'isWarm', type: 'boolean', expression: 'temperature > 80.0' } },
]

/**
 * Acknowledgements of ten streams and of many in a hundred shapes, a tenth of them with transforms: pairs of
 * runs, in turn, by the same load.
 */
export async function manyStreams(
  rounds: number,
  seconds: number,
  streams = 10_000,
): Promise<Figure> {
  const ratios: number[] = []
  const rates: string[] = []
  let waitingMax = 0
  for (let round = 0; round < rounds; round++) {
    const few = await rateOf({ streams: 10, turns: streams }, seconds)
    const many = await rateOf({ streams, turns: streams }, seconds)
    ratios.push(many.perSecond / few.perSecond)
    rates.push(`${many.perSecond.toLocaleString('en')} and ${few.perSecond.toLocaleString('en')}`)
    waitingMax = Math.max(waitingMax, many.waiting, few.waiting)
  }
  const ratio = medianOf(ratios)
  return {
    name: `${streams.toLocaleString('en')} streams in ${shapes} shapes, a tenth with transforms, and 10 streams: acknowledgements a second`,
    measured: `${rates.join(', ')}; ratio ${ratio.toFixed(2)}; at most ${waitingMax.toLocaleString('en')} not stored at the end`,
    target: 'ratio 0.8',
    isMet: ratio >= 0.8,
  }
}

interface Publishers {
  readonly streams: number
  /** Packets that are held ready, to be sent in turns: thousands cost the generator more than ten. */
  readonly turns: number
}

interface Rate {
  readonly perSecond: number
  /** Readings that are not in the store when the last one is acknowledged. */
  readonly waiting: number
}

async function rateOf({ streams, turns }: Publishers, seconds: number): Promise<Rate> {
  const target = await startStreamvault(0)
  const topics = await makeFleet(target.api, {
    streams,
    shapes: Math.min(shapes, streams),
    processing: (shape) => (shape % 10 === 9 ? { transform } : undefined),
  })
  const inTurns = Array.from({ length: turns }, (_, turn) => topics[turn % streams] ?? '')
  const result = await loadFleet(target, inTurns, { seconds, warmup: warmupOf(turns) })
  const waiting = (await target.metrics()).get('shipper_lag') ?? 0
  await target.stop()
  return { perSecond: Math.round(result.perSecond), waiting }
}

/** By itself with `npm run bench:streams`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      streams: { type: 'string', default: '10000' },
    },
  })
  const [rounds, seconds, streams] = [values.rounds, values.seconds, values.streams].map(Number)
  printFigure(await manyStreams(rounds ?? 3, seconds ?? 5, streams))
}

if (import.meta.main) await main()
