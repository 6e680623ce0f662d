import { readFileSync } from 'node:fs'

/** A fenced block of a page. */
export interface PageBlock {
  /** The number of the line with the fence. */
  readonly line: number
  readonly language: string
  /** What stands behind the language: how to run it, or the name to save it under. */
  readonly label: string
  readonly text: string
  /** What the page says that it prints, in a block of output that follows; undefined: nothing is said. */
  readonly output: string | undefined
}

const outputs = ['json', 'text']

/** The blocks of a page that are to be run or saved, each with the output that follows it. */
export function pageBlocks(path: string): readonly PageBlock[] {
  const blocks: PageBlock[] = []
  const fences = /^```(\w+)(?: ([^\n]+))?\n(.*?)^```$/gms
  const page = readFileSync(path, 'utf8')
  for (const { index, 1: language = '', 2: label = '', 3: text = '' } of page.matchAll(fences)) {
    const line = page.slice(0, index).split('\n').length
    const before = blocks.at(-1)
    if (!outputs.includes(language)) {
      blocks.push({ line, language, label, text, output: undefined })
    } else if (before === undefined || before.output !== undefined) {
      throw new Error(`${path}:${line} is the output of nothing`)
    } else {
      blocks[blocks.length - 1] = { ...before, output: text }
    }
  }
  return blocks
}
