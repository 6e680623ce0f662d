import { stripVTControlCharacters } from 'node:util'

/** Sums up the closing lines of runs of vitest: `Tests  2 failed | 40 passed (42)`. */
export function testCounts(output: string): { passed: number; failed: number } {
  const closing = stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => /^ *Tests /.test(line))
  const sum = (word: string) =>
    closing.reduce((so, line) => so + Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0), 0)
  return { passed: sum('passed'), failed: sum('failed') }
}
