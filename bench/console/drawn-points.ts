import { readFileSync } from 'node:fs'
import { build, type Rolldown } from 'vite'
import type * as Charts from '../../console/src/charts/field-plot.ts'
import { medianOf } from '../fleet.ts'
import type { Figure } from '../report.ts'
import { withBrowser } from './bench-browser.ts'

const points = 100_000
const rounds = 9
const drawnMsMax = 100

/** From points to a picture of them: what the script does, and the frame after it. */
export async function drawnPoints(): Promise<Figure> {
  const script = await builtChart()
  const tokens = readFileSync('console/src/styles/tokens.css', 'utf8')
  return await withBrowser(async (pages) => {
    const page = await pages.newPage('null', { viewport: { width: 1440, height: 900 } })
    await page.addStyleTag({ content: tokens })
    await page.evaluate(script)
    const took = await page.evaluate(drawAgain, { points, rounds })
    const frameMs = medianOf(took.map((one) => one.frameMs))
    const scriptMs = medianOf(took.map((one) => one.scriptMs))
    return {
      name: `${points.toLocaleString('en')} points drawn`,
      measured: `${frameMs.toFixed(0)} ms with the frame (script ${scriptMs.toFixed(0)} ms)`,
      target: `under ${drawnMsMax} ms`,
      isMet: frameMs < drawnMsMax,
    }
  })
}

/** The chart of the console and what it needs, as one script that has it in `charts`. */
async function builtChart(): Promise<string> {
  const [built] = (await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2023',
      lib: {
        entry: 'console/src/charts/field-plot.ts',
        formats: ['iife'],
        name: 'charts',
      },
    },
  })) as readonly Rolldown.RolldownOutput[]
  const chunk = built?.output.find((one) => one.type === 'chunk')
  if (chunk === undefined) throw new Error('the chart was not built')
  return `${chunk.code};globalThis.charts = charts`
}

interface Drawn {
  readonly scriptMs: number
  readonly frameMs: number
}

/** Runs in the page. */
async function drawAgain(asked: {
  readonly points: number
  readonly rounds: number
}): Promise<readonly Drawn[]> {
  const { FieldPlot } = (globalThis as unknown as { readonly charts: typeof Charts }).charts
  const place = document.createElement('div')
  document.body.append(place)
  const plot = new FieldPlot({
    place,
    heightPx: 150,
    nth: 0,
    zone: () => 'UTC',
    group: 'measured',
  })
  const drawn: Drawn[] = []
  for (let round = 0; round < asked.rounds; round++) {
    const times = Float64Array.from({ length: asked.points }, (_, at) => at * 1000)
    const middle = times.map((_, at) => Math.sin((at + round) / 500) + Math.random())
    const range = { fromMs: 0, toMs: asked.points * 1000 }
    await new Promise(requestAnimationFrame)
    const beganMs = performance.now()
    plot.draw({ times, middle, gapMs: 3000 }, range)
    // What was put off to the end of the task is done before this.
    await Promise.resolve()
    const scriptMs = performance.now() - beganMs
    await new Promise(requestAnimationFrame)
    await new Promise((resolve) => setTimeout(resolve))
    drawn.push({ scriptMs, frameMs: performance.now() - beganMs })
  }
  const canvas = place.querySelector('canvas')
  const { data } = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {}
  const pixels = data?.filter((value, at) => at % 4 === 3 && value > 0).length ?? 0
  // A line up and down over all of it leaves little of the chart free.
  if (pixels < (data?.length ?? 0) / 16) throw new Error(`only ${pixels} pixels are drawn`)
  return drawn
}
