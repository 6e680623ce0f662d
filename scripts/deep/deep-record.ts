import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { suiteDigest } from './suite-sources.ts'

/** When a deep suite has passed last: the digest of its sources at that time, and how long it took. */
export interface RecordedPass {
  readonly digest: string
  readonly seconds: number
}

const recordFile = 'test/deep.json'

/** A deep suite as it is now. */
export interface DeepSuite {
  /** Its path from the root. */
  readonly file: string
  readonly digest: string
  /** How long its last pass took; nothing if it has never passed. */
  readonly seconds: number | undefined
  /** Whether something that it goes by is not what it was when it passed last. */
  readonly isChanged: boolean
}

/** All deep suites, the shortest first; those that have never passed come last. */
export function deepSuites(recorded = readRecord()): DeepSuite[] {
  const suites = globSync('test/deep/**/*.test.ts').map((file) => {
    const digest = suiteDigest(file)
    const pass = recorded[file]
    return { file, digest, seconds: pass?.seconds, isChanged: pass?.digest !== digest }
  })
  const secondsOf = ({ seconds }: DeepSuite) => seconds ?? Number.POSITIVE_INFINITY
  return suites.sort((a, b) => secondsOf(a) - secondsOf(b) || a.file.localeCompare(b.file))
}

/** Writes down that a suite has passed as it was when it began, and forgets those that are no more. */
export function recordPass(passed: string, pass: RecordedPass): void {
  const files = globSync('test/deep/**/*.test.ts').sort()
  const before = readRecord()
  const entries = files.flatMap((file) => {
    const newest = file === passed ? pass : before[file]
    return newest === undefined ? [] : [[file, newest] as const]
  })
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}

function readRecord(): Readonly<Record<string, RecordedPass>> {
  return JSON.parse(readFileSync(recordFile, 'utf8'))
}
