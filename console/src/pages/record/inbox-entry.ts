import { ApiFailure } from '../../../../clients/typescript/call.ts'
import { api, keyApi } from '../../api/client.ts'
import { failureOf } from '../../api/failure.ts'
import { may } from '../../api/session.ts'
import { placeOfEntry } from '../../routing/entry-place.ts'
import { paths } from '../../routing/paths.ts'
import type { RecordDeed, ShownRecord } from './shown-record.ts'

const pageSize = 100
/** No operation gives one entry: it is looked for page by page, and older ones are hardly asked for. */
const pagesMax = 20

/** An entry of the inbox, with the way to what it is about. @throws ApiFailure */
export async function readInboxEntry(id: string, signal: AbortSignal): Promise<ShownRecord> {
  const entry = await foundEntry(id, signal)
  const read: RecordDeed = {
    says: 'Mark as read',
    done: 'Read',
    needs: 'notifications:write',
    run: () => api.call('markInboxEntryRead', { path: { notificationId: id } }),
  }
  const href = placeOfEntry(entry) ?? (await placeOfStream(entry, signal))
  return {
    title: entry.message === '' ? entry.title : entry.message,
    facts: entry,
    deeds: entry.read ? [] : [read],
    links: href === undefined ? [] : [{ name: 'What it is about', href }],
  }
}

async function foundEntry(id: string, signal: AbortSignal) {
  for (let page = 1; page <= pagesMax; page++) {
    const { content, total_pages: pages } = await api.call('listInbox', {
      query: { page, page_size: pageSize },
      signal,
    })
    const entry = content.find((one) => one.id === id)
    if (entry) return entry
    if (page >= pages) break
  }
  throw new ApiFailure(
    `the entry is archived, or not among the newest ${pagesMax * pageSize} of the inbox`,
    { operationId: 'listInbox', status: 404, code: 'not_found' },
  )
}

type Entry = Awaited<ReturnType<typeof foundEntry>>

/** The page of a stream, of data or of a vault; undefined where it is neither any more. */
async function placeOfStream(entry: Entry, signal: AbortSignal): Promise<string | undefined> {
  const { event_type: event, resource_type: type, resource_id: streamId } = entry
  if (type !== 'stream' || event.endsWith('.deleted') || !may('streams:read')) return undefined
  const path = { streamId }
  if (await isThere(api.call('readStream', { path, signal }))) return paths.stream(streamId)
  const isOfVault = await isThere(keyApi.call('readStream', { path, signal }))
  return isOfVault ? paths.record('asset-stream', streamId) : undefined
}

async function isThere(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (failureOf(error).status === 404) return false
    throw error
  }
}
