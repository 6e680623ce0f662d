import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { fileStream, streamOf } from '../../src/core/heard-streams.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

// An error of a stream that nobody listens to fails the whole run of tests, as it ends a process.

async function* broken(): AsyncGenerator<string> {
  yield 'some'
  throw new Error('the source has failed')
}

/** Fails once it is left. */
async function* leftBadly(): AsyncGenerator<string> {
  try {
    yield 'some'
    yield 'more'
  } finally {
    await Promise.reject(new Error('it cannot be left'))
  }
}

/** A stream of a file that is not there, of a signal that is given, and of sources that fail. */
const failing: readonly (readonly [string, (folder: TemporaryFolder) => Readable])[] = [
  ['a file that is gone', (folder) => fileStream(folder.file('gone'))],
  ['a signal', (folder) => fileStream(folder.file('gone'), { signal: AbortSignal.abort() })],
  ['a source that fails', () => streamOf(broken())],
]

describe.each(failing)('a stream that fails by %s', (_, open) => {
  test('before somebody reads it ends by itself', async () => {
    using folder = new TemporaryFolder()
    const stream = open(folder)
    stream.resume()
    await new Promise((resolve) => stream.once('close', resolve))
    expect(stream.errored).toBeInstanceOf(Error)
  })

  test('fails for whoever reads it', async () => {
    using folder = new TemporaryFolder()
    await expect(text(open(folder))).rejects.toThrow(/ENOENT|abort|failed/)
  })
})

test('a source that fails when it is left ends the stream, and nothing else', async () => {
  const stream = streamOf(leftBadly())
  await once(stream, 'readable')
  stream.destroy()
  await new Promise((resolve) => stream.once('close', resolve))
  expect(stream.destroyed).toBe(true)
})
