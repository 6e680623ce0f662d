import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { textOfFile } from '../../src/cli/bounded-file.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder

beforeEach(() => (folder = new TemporaryFolder()))

afterEach(() => folder[Symbol.dispose]())

test('a file is read as a whole, up to its limit', () => {
  const path = folder.file('text')
  writeFileSync(path, 'ä'.repeat(50))
  expect(textOfFile(path, 100)).toBe('ä'.repeat(50))
  expect(() => textOfFile(path, 99)).toThrow(RangeError)
})

test('what comes out of a pipe is read to its end', () => {
  const path = folder.file('pipe')
  execFileSync('mkfifo', [path])
  const text = 'piece '.repeat(50_000)
  const writer = spawn('sh', [
    '-c',
    `yes 'piece ' | tr -d '\\n' | head -c ${text.length} > ${path}`,
  ])
  writer.on('error', () => undefined)
  expect(textOfFile(path, 1_000_000)).toBe(text)
})

test('neither a folder nor what is not there has a text', () => {
  expect(textOfFile(folder.path, 100)).toBeUndefined()
  expect(textOfFile(folder.file('nothing'), 100)).toBeUndefined()
})
