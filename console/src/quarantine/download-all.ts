import { api } from '../api/client.ts'
import { download } from './download.ts'
import { type Entry, type EntryFilter, listEntries } from './entries.ts'
import { isMeantBy, type Target } from './targets.ts'

/** A file that the page makes is held in memory first. */
const bytesMax = 256 * 1024 * 1024

interface Wanted {
  readonly targets: readonly Target[]
  readonly filter: EntryFilter
  readonly isAll: boolean
}

/** Entries as lines of JSON, each with its bytes as text or in base64. @throws Error when they are too many */
export async function downloadAll({ targets, filter, isAll }: Wanted): Promise<void> {
  const lines: string[] = []
  let length = 0
  const add = (entry: object) => {
    const line = `${JSON.stringify(entry)}\n`
    length += line.length
    if (length > bytesMax) throw new Error('they are more than 256 MB: choose fewer')
    lines.push(line)
  }
  if (isAll) {
    const isMeant = isMeantBy(targets)
    for await (const entry of allEntries(filter)) if (isMeant(entry)) add(entry)
  } else {
    for (const { streamId, name, ids = [] } of targets) {
      for (const entryId of ids) {
        const entry = await api.call('readQuarantineEntry', { path: { streamId, entryId } })
        add({ streamId, streamName: name, ...entry })
      }
    }
  }
  download(lines, 'quarantine.ndjson')
}

async function* allEntries(filter: EntryFilter): AsyncGenerator<Entry> {
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof listEntries>> = await listEntries(filter, cursor)
    yield* page.entries
    cursor = page.nextCursor
  }
}
