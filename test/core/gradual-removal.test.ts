import { existsSync, statSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { removeGradually } from '../../src/core/gradual-removal.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const mib = 1024 * 1024

test.each([0, 1, mib, 5 * mib + 5])(
  'a file of %i bytes is removed, and never more than a MiB of it at once',
  async (size) => {
    using folder = new TemporaryFolder()
    const path = folder.file('large')
    writeFileSync(path, Buffer.alloc(size))
    const sizes = [size]
    const removing = removeGradually(path)
    while (existsSync(path)) {
      sizes.push(statSync(path, { throwIfNoEntry: false })?.size ?? 0)
      await nextTurn()
    }
    await removing
    expect(existsSync(path)).toBe(false)
    const steps = [...sizes.slice(1), 0].map((after, at) => (sizes[at] ?? 0) - after)
    expect(Math.max(...steps)).toBeLessThanOrEqual(mib)
  },
)
