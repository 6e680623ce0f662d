import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { backUp } from '../../support/backups.ts'
import { streamvaultJson } from '../../support/command-line.ts'
import { storedAttachment } from '../../support/kept-files.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const services = startedServices()

const rounds = 8

/** Attachments of one who uploads at once. */
const keptMax = 12

/** Files of which several attachments have the same, so that some stay when one goes. */
function anyFile(random: SeededRandom): Buffer<ArrayBuffer> {
  return Buffer.alloc(random.integer(0, 400) * 1_000, random.integer(0, 9))
}

/** Uploads files, and deletes attachments in any order, until it is told to stop. */
async function changeFiles(api: ApiClient, random: SeededRandom, signal: AbortSignal) {
  const kept: string[] = []
  while (!signal.aborted) {
    if (kept.length < keptMax && random.integer(0, 2) > 0) {
      kept.push((await storedAttachment(api, anyFile(random))).id)
    } else if (kept.length > 0) {
      const [gone = ''] = kept.splice(random.integer(0, kept.length - 1), 1)
      await api.withKey('DELETE', `/attachments/${gone}`)
    }
  }
}

test('a backup of any moment has every file that its state knows, while files come and go', async () => {
  using folder = new TemporaryFolder()
  const random = new SeededRandom(14)
  const api = new ApiClient((await services.start(services.newFolder())).http)
  const ending = new AbortController()
  const changing = [1, 2, 3].map(() => changeFiles(api, random, ending.signal))
  let files = 0
  try {
    for (let round = 0; round < rounds; round++) {
      // Any moment will do: what is under way then is what this is about.
      await sleep(random.integer(0, 1_000))
      const { to, lostFiles } = await backUp(api, folder.file(`backup-${round}`))
      expect(lostFiles).toBe(0)
      const dataDir = folder.file('restored')
      const words = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
      const { manifest, ...restored } = await streamvaultJson<{
        manifest: { counts: { files: number } }
      }>(words)
      expect(restored).toMatchObject({ verified: true, lostFiles: [] })
      files += manifest.counts.files
      rmSync(dataDir, { recursive: true })
    }
  } finally {
    ending.abort()
    await Promise.all(changing)
  }
  expect(files).toBeGreaterThan(rounds)
})
