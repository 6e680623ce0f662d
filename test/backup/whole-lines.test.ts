import { appendFileSync, writeFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { wholeLinesOf } from '../../src/operating/backup/whole-lines.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** Short and long ones, across the pieces that are read. */
const line = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll('\n', ' ')),
  fc.integer({ min: 1, max: 600_000 }).map((length) => 'x'.repeat(length)),
)

function read(path: string, onPiece = () => undefined as void): string {
  const pieces: Buffer[] = []
  for (const piece of wholeLinesOf(path)) {
    pieces.push(Buffer.from(piece))
    onPiece()
  }
  return Buffer.concat(pieces).toString()
}

test('all whole lines are read, and nothing of one that has no end', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), line, (lines, rest) => {
      using folder = new TemporaryFolder()
      const whole = lines.map((text) => `${text}\n`).join('')
      writeFileSync(folder.file('chain'), whole + rest)

      expect(read(folder.file('chain')) === whole).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('what is written meanwhile is left out', () => {
  using folder = new TemporaryFolder()
  const path = folder.file('chain')
  const whole = `${'x'.repeat(700_000)}\n`
  writeFileSync(path, whole)

  const found = read(path, () => appendFileSync(path, 'more\n'))

  expect(found === whole).toBe(true)
})
