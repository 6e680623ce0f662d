import { expect, test } from 'vitest'
import { leafPath } from '../../src/evidence/seals/leaf-path.ts'
import { treeOfStretch } from '../../src/evidence/seals/stretch-tree.ts'
import { leafHash, rootBy, rootOf } from '../../src/ledgers/merkle/merkle.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'

const stretch = { streamId: 'boiler', startUs: marchUs, endUs: marchUs + hourUs }

test('the tree of a stretch is that of the texts of its readings, and each has a path', async () => {
  await using opened = await openDuckDbStore()
  const readings = Array.from({ length: 3_000 }, (_, index) => {
    return storedReading({ timestampUs: marchUs + index * 1_000, values: { temperature: index } })
  })
  await ship(opened.store, readings)

  const tree = await treeOfStretch(opened.store, stretch)

  const texts = readings.map(({ timestampUs }, index) =>
    readingText('boiler', { timestampUs, values: { temperature: index } }),
  )
  expect(tree).toMatchObject({ count: 3_000, root: rootOf(texts.map(leafHash)).toString('hex') })
  expect(tree.chunks).toHaveLength(3)
  for (const index of [0, 1_023, 1_024, 2_999]) {
    const leaf = { timestampUs: marchUs + index * 1_000, text: texts[index] as string }
    const found = await leafPath(opened.store, stretch, tree, leaf)
    expect(found).toMatchObject({ path: { index, size: 3_000 } })
    if ('path' in found)
      expect(rootBy(leafHash(leaf.text), found.path)?.toString('hex')).toBe(tree.root)
  }
})
