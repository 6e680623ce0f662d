import type { LatencySummary } from './latency-histogram.ts'
import type { LoadResult } from './load-measurement.ts'

/** The value of a numeric command line flag, or undefined when it was not given. */
export function numberFlag(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new TypeError(`--${name} needs a number of 0 or more, not '${text}'`)
  }
  return value
}

/**
 * Runs a load generator as a command: its result goes to stdout, one line of JSON or a few lines
 * of text. A run that could not begin goes to stderr with exit code 1; errors during a run are in
 * the result and leave the exit code at 0, because the figures are still wanted.
 */
export async function runCommand(
  usage: string,
  run: () => Promise<{ result: LoadResult; json: boolean }>,
): Promise<void> {
  try {
    const { result, json } = await run()
    console.log(json ? JSON.stringify(result) : describe(result))
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    // Only wrong flags are a TypeError (parseArgs throws them too): the usage helps with those.
    if (error instanceof TypeError) console.error(`usage: ${usage}`)
    process.exitCode = 1
  }
}

function describe(result: LoadResult): string {
  return Object.entries(result)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(20)} ${describeValue(value)}`)
    .join('\n')
}

function describeValue(value: string[] | number | LatencySummary | Record<string, number>): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join('; ')
  if (typeof value === 'number') return describeNumber(value)
  return Object.entries(value)
    .map(([name, figure]) => `${name} ${describeNumber(figure)}`)
    .join(', ')
}

function describeNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })
}
