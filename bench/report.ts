import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { machine } from './servers.ts'

/** One figure of a report with what it should be. */
export interface Figure {
  readonly name: string
  readonly measured: string
  readonly target: string
  /** Undefined where it could not be measured: then `measured` says why. */
  readonly isMet: boolean | undefined
}

/** Prints a figure as soon as it is known. */
export function printFigure({ name, measured, isMet }: Figure): void {
  process.stdout.write(`${verdict(isMet, ['met ', 'MISS', 'none'])} ${name}: ${measured}\n`)
}

function verdict(isMet: boolean | undefined, [yes, no, none]: readonly [string, string, string]) {
  if (isMet === undefined) return none
  return isMet ? yes : no
}

export type Measurements = Readonly<Record<string, () => Promise<Figure | readonly Figure[]>>>

/** Does those measurements that words choose, or all of them, and prints each figure as soon as it is known. */
export async function measureAll(
  measurements: Measurements,
  words: readonly string[],
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [word, measure] of Object.entries(measurements)) {
    if (words.length > 0 && !words.includes(word)) continue
    for (const figure of [await measure()].flat()) {
      printFigure(figure)
      figures.push(figure)
    }
  }
  return figures
}

interface Report {
  readonly file: string
  readonly title: string
  readonly command: string
  /** What a reader has to know beside how it was measured. */
  readonly notes: string
  readonly figures: readonly Figure[]
}

/** Writes a page with all figures, and on what they were measured. */
export function writeReport({ file, title, command, notes, figures }: Report): void {
  const rows = figures.map(
    ({ name, measured, target, isMet }) =>
      `| ${name} | ${measured} | ${target} | ${verdict(isMet, ['yes', '**no**', 'not measured'])} |`,
  )
  const text = `# ${title}

Written by \`${command}\` on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores of ${machine()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}.
Service, load generator and, where it is compared with, mosquitto share these cores. Every run
begins with an empty data folder. Compare ratios of one report, not rates of two: other machines,
and other neighbours on the same machine, give other rates.

${notes}

| what | measured | wanted | met |
| --- | --- | --- | --- |
${rows.join('\n')}
`
  writeFileSync(file, text)
}
